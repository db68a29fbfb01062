;;; bare-mode.el --- Schemas of BARE messages, by barewire-gen lsp -*- lexical-binding: t -*-

;; For Emacs 29 or later, which has eglot, and for 28 with the package eglot. Put it on the load path and
;; (require 'bare-mode).

(defvar eglot-server-programs)

(defvar bare-command '("barewire-gen" "lsp")
  "How to start the server.
In a module that has it as a tool: (\"go\" \"tool\" \"barewire-gen\" \"lsp\").")

(defvar bare-font-lock-keywords
  `(("#@\\w+" 0 font-lock-preprocessor-face t)
    ("\\_<\\([A-Za-z_][A-Za-z0-9_]*\\)\\s-*:" 1 font-lock-variable-name-face)
    ("\\_<\\(?:type\\|enum\\)\\s-+\\([A-Za-z_][A-Za-z0-9_]*\\)" 1 font-lock-type-face)
    (,(regexp-opt '("type" "struct" "union" "enum") 'symbols) . font-lock-keyword-face)
    (,(regexp-opt '("uint" "u8" "u16" "u32" "u64" "int" "i8" "i16" "i32" "i64" "f32" "f64"
                    "bool" "str" "string" "data" "void" "optional" "list" "map") 'symbols)
     . font-lock-builtin-face))
  "What `bare-mode' colors.")

;;;###autoload
(define-derived-mode bare-mode prog-mode "BARE"
  "Schemas of BARE messages."
  (setq-local comment-start "# ")
  (setq-local comment-start-skip "#+\\s-*")
  (modify-syntax-entry ?# "<")
  (modify-syntax-entry ?\n ">")
  (modify-syntax-entry ?_ "_")
  (setq-local indent-tabs-mode nil)
  (setq-local font-lock-defaults '(bare-font-lock-keywords)))

;;;###autoload
(add-to-list 'auto-mode-alist '("\\.bare\\'" . bare-mode))

(with-eval-after-load 'eglot
  (add-to-list 'eglot-server-programs (cons 'bare-mode bare-command)))

(provide 'bare-mode)
;;; bare-mode.el ends here
