"""The paper, table by table: one command each, published figures beside ours beside the controls."""
