package lsp

// The types of the Language Server Protocol 3.17 that are used here, with the fields
// that are used.

type initializeParams struct {
	Capabilities struct {
		TextDocument struct {
			Completion struct {
				CompletionItem struct {
					SnippetSupport bool `json:"snippetSupport"`
				} `json:"completionItem"`
			} `json:"completion"`
		} `json:"textDocument"`
	} `json:"capabilities"`
}

type position struct {
	Line      int `json:"line"`      // from 0
	Character int `json:"character"` // from 0, in UTF-16 code units
}

type textRange struct {
	Start position `json:"start"`
	End   position `json:"end"`
}

type location struct {
	URI   string    `json:"uri"`
	Range textRange `json:"range"`
}

type textDocumentIdentifier struct {
	URI     string `json:"uri"`
	Version *int   `json:"version,omitempty"`
}

type positionParams struct {
	TextDocument textDocumentIdentifier `json:"textDocument"`
	Position     position               `json:"position"`
}

type documentParams struct {
	TextDocument textDocumentIdentifier `json:"textDocument"`
}

type rangeParams struct {
	TextDocument textDocumentIdentifier `json:"textDocument"`
	Range        textRange              `json:"range"`
}

type referenceParams struct {
	positionParams
	Context struct {
		IncludeDeclaration bool `json:"includeDeclaration"`
	} `json:"context"`
}

type renameParams struct {
	positionParams
	NewName string `json:"newName"`
}

type didOpenParams struct {
	TextDocument struct {
		URI     string `json:"uri"`
		Version int    `json:"version"`
		Text    string `json:"text"`
	} `json:"textDocument"`
}

type didChangeParams struct {
	TextDocument   textDocumentIdentifier `json:"textDocument"`
	ContentChanges []struct {
		Range *textRange `json:"range"` // nil: the whole text
		Text  string     `json:"text"`
	} `json:"contentChanges"`
}

type textEdit struct {
	Range   textRange `json:"range"`
	NewText string    `json:"newText"`
}

type workspaceEdit struct {
	Changes map[string][]textEdit `json:"changes"`
}

type lspDiagnostic struct {
	Range              textRange            `json:"range"`
	Severity           int                  `json:"severity"` // 1 error, 2 warning, 3 information
	Code               string               `json:"code"`
	CodeDescription    *codeDescription     `json:"codeDescription,omitempty"`
	Source             string               `json:"source"`
	Message            string               `json:"message"`
	RelatedInformation []relatedInformation `json:"relatedInformation,omitempty"`
}

type codeDescription struct {
	Href string `json:"href"`
}

type relatedInformation struct {
	Location location `json:"location"`
	Message  string   `json:"message"`
}

type publishDiagnosticsParams struct {
	URI         string          `json:"uri"`
	Version     *int            `json:"version,omitempty"`
	Diagnostics []lspDiagnostic `json:"diagnostics"`
}

type markup struct {
	Kind  string `json:"kind"` // markdown
	Value string `json:"value"`
}

type hover struct {
	Contents markup    `json:"contents"`
	Range    textRange `json:"range"`
}

type completionList struct {
	IsIncomplete bool             `json:"isIncomplete"`
	Items        []completionItem `json:"items"`
}

type completionItem struct {
	Label            string `json:"label"`
	Kind             int    `json:"kind"`
	Detail           string `json:"detail,omitempty"`
	Documentation    string `json:"documentation,omitempty"`
	InsertText       string `json:"insertText,omitempty"`
	InsertTextFormat int    `json:"insertTextFormat,omitempty"` // 2: a snippet
	SortText         string `json:"sortText,omitempty"`
}

// Kinds of completion items.
const (
	kindEnumMember = 20
	kindKeyword    = 14
	kindClass      = 7
	kindProperty   = 10
)

type documentSymbol struct {
	Name           string           `json:"name"`
	Detail         string           `json:"detail,omitempty"`
	Kind           int              `json:"kind"`
	Range          textRange        `json:"range"`
	SelectionRange textRange        `json:"selectionRange"`
	Children       []documentSymbol `json:"children,omitempty"`
}

// Kinds of symbols.
const (
	symbolClass      = 5
	symbolField      = 8
	symbolEnum       = 10
	symbolInterface  = 11
	symbolEnumMember = 22
	symbolStruct     = 23
)

type codeActionParams struct {
	TextDocument textDocumentIdentifier `json:"textDocument"`
	Range        textRange              `json:"range"`
	Context      struct {
		Only []string `json:"only"`
	} `json:"context"`
}

type codeAction struct {
	Title       string          `json:"title"`
	Kind        string          `json:"kind"`
	Diagnostics []lspDiagnostic `json:"diagnostics,omitempty"`
	IsPreferred bool            `json:"isPreferred,omitempty"`
	Edit        workspaceEdit   `json:"edit"`
}

type semanticTokens struct {
	Data []uint32 `json:"data"`
}

type documentHighlight struct {
	Range textRange `json:"range"`
	Kind  int       `json:"kind"` // 1 text
}

type foldingRange struct {
	StartLine int `json:"startLine"`
	EndLine   int `json:"endLine"`
}

type logMessageParams struct {
	Type    int    `json:"type"` // 1 error
	Message string `json:"message"`
}

// capabilities is what the server says that it can do.
var capabilities = map[string]any{
	"positionEncoding":           "utf-16",
	"textDocumentSync":           map[string]any{"openClose": true, "change": 2, "save": map[string]any{"includeText": false}},
	"definitionProvider":         true,
	"referencesProvider":         true,
	"documentHighlightProvider":  true,
	"renameProvider":             map[string]any{"prepareProvider": true},
	"hoverProvider":              true,
	"completionProvider":         map[string]any{"triggerCharacters": []string{":", "<", "|", "@", "(", ","}},
	"documentFormattingProvider": true,
	"codeActionProvider":         map[string]any{"codeActionKinds": []string{"quickfix", "source.fixAll"}},
	"documentSymbolProvider":     true,
	"foldingRangeProvider":       true,
	"semanticTokensProvider": map[string]any{
		"legend": map[string]any{"tokenTypes": tokenTypes, "tokenModifiers": tokenModifiers},
		"full":   true,
		"range":  true,
	},
}
