// Holds SARIF logs to the standard's JSON schema. The arguments are files; standard
// output is a list with what is wrong in each: [[{path, message}], ...].
import { createRequire } from "node:module"
import { readFileSync } from "node:fs"

const require = createRequire(import.meta.url)
const Ajv = require("ajv")
const schema = require("@microsoft/jest-sarif/lib/schemas/sarif-2.1.0-rtm.5.json")

const ajv = new Ajv({ allErrors: true, schemaId: "auto", meta: false, logger: false })
ajv.addMetaSchema(require("ajv/lib/refs/json-schema-draft-04.json"))
const valid = ajv.compile(schema)

console.log(JSON.stringify(process.argv.slice(2).map((file) => {
  valid(JSON.parse(readFileSync(file, "utf8")))
  return (valid.errors ?? []).map((e) => ({ path: e.dataPath, message: e.message }))
})))
