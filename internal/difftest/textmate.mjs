// Colors schemas as VS Code does: with its engine, and the grammar in docs/editors. The
// arguments are the grammar and files; standard output is a list with each file's lines,
// a line being its tokens: [[[start, end, scope], ...], ...]. Columns count UTF-16 units.
import { createRequire } from "node:module"
import { readFileSync } from "node:fs"

const require = createRequire(import.meta.url)
const textmate = require("vscode-textmate")
const oniguruma = require("vscode-oniguruma")

await oniguruma.loadWASM(readFileSync(require.resolve("vscode-oniguruma/release/onig.wasm")))
const [grammarFile, ...files] = process.argv.slice(2)
const registry = new textmate.Registry({
  onigLib: Promise.resolve({
    createOnigScanner: (patterns) => new oniguruma.OnigScanner(patterns),
    createOnigString: (s) => new oniguruma.OnigString(s),
  }),
  loadGrammar: async () => textmate.parseRawGrammar(readFileSync(grammarFile, "utf8"), grammarFile),
})
const grammar = await registry.loadGrammar("source.bare")
console.log(JSON.stringify(files.map((file) => {
  let stack = textmate.INITIAL
  return readFileSync(file, "utf8").split("\n").map((line) => {
    const r = grammar.tokenizeLine(line, stack)
    stack = r.ruleStack
    return r.tokens.map((t) => [t.startIndex, t.endIndex, t.scopes.join(" ")])
  })
})))
