// Runs schemas and messages through bare-ts. Standard input is a list of
//   {schema, legacy, cases: [{type, msg: hex} | {type, js: expression}]}
// and standard output a list of {error} or {results: [{hex} | {error}]}.
// A message is decoded and encoded again; an expression is a value to encode.
import { readFileSync, writeFileSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { transform } from "@bare-ts/tools"
import * as bare from "@bare-ts/lib"

const lib = JSON.stringify(import.meta.resolve("@bare-ts/lib"))
const config = bare.Config({})
const dir = mkdtempSync(join(tmpdir(), "barets-"))

const hexOf = (bytes) => Buffer.from(bytes).toString("hex")
const bytesOf = (hex) => Uint8Array.from(Buffer.from(hex, "hex"))

// What expressions may call.
const scope = {
    D: (hex) => bytesOf(hex).buffer,
    F32: (bits) => new Float32Array(Uint32Array.of(bits).buffer)[0],
    F64: (bits) => new Float64Array(BigUint64Array.of(bits).buffer)[0],
}

function encode(mod, type, value) {
    const bc = new bare.ByteCursor(new Uint8Array(1024), config)
    mod["write" + type](bc, value)
    return hexOf(new Uint8Array(bc.view.buffer, bc.view.byteOffset, bc.offset))
}

function decode(mod, type, msg) {
    const bc = new bare.ByteCursor(bytesOf(msg), config)
    const value = mod["read" + type](bc)
    if (bc.offset < bc.view.byteLength) {
        throw new bare.BareError(bc.offset, "remaining bytes")
    }
    return value
}

function run(mod, c) {
    try {
        const value = c.js === undefined
            ? decode(mod, c.type, c.msg)
            : new Function(...Object.keys(scope), "return " + c.js)(...Object.values(scope))
        return { hex: encode(mod, c.type, value) }
    } catch (e) {
        return { error: String(e) }
    }
}

const answers = []
let n = 0
for (const { schema, legacy, cases } of JSON.parse(readFileSync(0, "utf8"))) {
    try {
        const code = transform(schema, { generator: "js", legacy, useIntEnum: true, useIntTag: true })
        const file = join(dir, `s${n++}.mjs`)
        writeFileSync(file, code.replace('"@bare-ts/lib"', lib))
        const mod = await import(pathToFileURL(file))
        answers.push({ results: cases.map((c) => run(mod, c)) })
    } catch (e) {
        answers.push({ error: String(e) })
    }
}
rmSync(dir, { recursive: true })
process.stdout.write(JSON.stringify(answers))
