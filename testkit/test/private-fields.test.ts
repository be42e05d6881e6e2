// Sources use no private API of Node or a library: it changes without notice, even between the versions that we support.

import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'

const root = join(import.meta.dirname, '../..')
const sources = '{agent,cli,client,console,contract,server,sim,testkit}/{src,bin}/**/*.{ts,tsx,js}'

/** Forbidden patterns, each with an example. Our own private fields begin with #. */
const refusals: { why: string; pattern: RegExp; example: string }[] = [
  { why: 'a field with an underscore', pattern: /\.\s*_\w/, example: 'socket._handle.fd' },
  { why: 'a field with an underscore', pattern: /\[\s*['"`]_\w/, example: `socket['_handle']` },
  {
    why: 'a field with an underscore',
    pattern: /(?:^|[{;])\s*(?:readonly\s+)?_\w+\??\s*:/,
    example: 'type Raw = { _httpMessage?: object }',
  },
  {
    why: 'a field with an underscore',
    pattern: /[{,]\s*_\w+\s*(?:,[^(){}]*)?\}/,
    example: 'const { _readableState } = stream',
  },
  {
    why: 'a symbol of another',
    pattern: /getOwnPropertySymbols|Reflect\.ownKeys|getOwnPropertyDescriptors/,
    example: 'Object.getOwnPropertySymbols(socket)',
  },
  {
    why: 'a symbol of another',
    pattern: /\.description\s*===/,
    example: `found.find((symbol) => symbol.description === 'kHandle')`,
  },
  { why: 'a symbol of another', pattern: /Symbol\.for\(/, example: `reply[Symbol.for('fastify.reply')]` },
  { why: 'a symbol of another', pattern: /\[\s*k[A-Z]\w*\s*\]/, example: 'socket[kHandle]' },
  {
    why: 'the inside of Node',
    pattern: /\b(?:process\.binding|internalBinding|_linkedBinding)\b/,
    example: `process.binding('tcp_wrap')`,
  },
  {
    why: 'the inside of Node',
    pattern: /--expose[-_]internals|['"](?:node:)?internal\//,
    example: `import net from 'internal/net'`,
  },
  {
    why: 'the inside of Node',
    pattern: /['"](?:node:)?_(?:http|stream|tls)_\w+['"]/,
    example: `import { kOnExecute } from 'node:_http_common'`,
  },
  {
    why: 'the inside of a library',
    pattern: /from ['"](?:fastify|pg|ws|mqtt|mqtt-packet|pino)\/(?:lib|build|dist)\//,
    example: `import { kReply } from 'fastify/lib/symbols.js'`,
  },
]

test('no source uses a private field of Node or of a library', () => {
  const files = globSync(sources, { cwd: root })
  assert.ok(files.length > 500, `only ${files.length} sources were found`)
  const found = files.flatMap((file) =>
    problemsIn(readFileSync(join(root, file), 'utf8')).map((problem) => `${file}:${problem}`),
  )
  assert.deepEqual(found, [])
})

for (const { why, example } of refusals) {
  test(`${example} is refused`, () => {
    assert.ok(problemsIn(example).some((problem) => problem.includes(why)))
  })
}

for (const allowed of [
  'const [, _first] = words',
  'rows.map((_, index) => index)',
  'resolveId: (id, _importer, { kind }) => id',
  'const { scripts: _, ...described } = manifest',
  'this.#handle = handle',
  'withIo(async (io, _flags: object, command: Command) => {',
  '// Node has it in socket._handle.',
  'const kinds = all[kind]',
  '[Symbol.asyncIterator]()',
]) {
  test(`${allowed} is allowed`, () => assert.deepEqual(problemsIn(allowed), []))
}

/** The line and the reason of each problem. */
function problemsIn(text: string): string[] {
  return withoutComments(text)
    .split('\n')
    .flatMap((line, index) =>
      refusals
        .filter(({ pattern }) => pattern.test(line))
        .map(({ why }) => `${index + 1}: ${why}: ${line.trim()}`),
    )
}

/** Keeps the line numbers. */
function withoutComments(text: string): string {
  return text
    .replace(/\/\*[\s\S]*?\*\//g, (comment) => comment.replace(/[^\n]/g, ' '))
    .replace(/^\s*\/\/.*$/gm, '')
}
