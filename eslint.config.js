// Checks the scripts of the pages: `make eslint`.

import js from "@eslint/js";
import globals from "globals";

const page = "src/dayline/album/page/*.js";

export default [
  {
    ...js.configs.recommended,
    files: [page],
    languageOptions: { ecmaVersion: 2023, sourceType: "module", globals: globals.browser },
  },
  {
    files: [page],
    rules: {
      eqeqeq: ["error", "always", { null: "ignore" }],
      "max-len": ["error", { code: 100, ignoreStrings: true, ignoreTemplateLiterals: true }],
      "no-shadow": "error",
      "no-use-before-define": ["error", { functions: false, variables: false }],
      "no-var": "error",
      "prefer-const": "error",
    },
  },
];
