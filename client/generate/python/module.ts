// Generates the Python client: a template with the types and methods of docs/openapi.json.

import { readFileSync } from 'node:fs'
import { eventPatterns, eventTypes, execStates, scopes } from '@jobcast/contract'
import { type ApiDocument, clientOperations } from '../schema-types.ts'
import { capitalized, type Operation } from './arguments.ts'
import { checkTables, launchMethods, methodOf } from './methods.ts'
import { PythonTypes, type Schema } from './types.ts'

export const pythonFile = new URL('../../python/jobcast.py', import.meta.url)
/** Both files are Python; the second is inserted into the first. */
const templateFile = new URL('template.py', import.meta.url)
const transportFile = new URL('transport.py', import.meta.url)

const namedValues = {
  ExecState: execStates,
  EventType: eventTypes,
  EventPattern: eventPatterns,
  Scope: scopes,
}

export function pythonText(document: ApiDocument): string {
  const operations = clientOperations(document) as Operation[]
  checkTables(operations)
  const schemas = document.components.schemas as Record<string, Schema>
  const types = new PythonTypes(schemas, namedValues, ['Run'])
  const launch = operations.find(({ operationId }) => operationId === 'createRun')
  if (launch === undefined) throw new Error('there is no createRun')
  const runFields = Object.entries(schemas.Run?.properties ?? {}).map(
    ([key, schema]) =>
      `        @overload\n        def __getitem__(self, key: Literal["${key}"]) -> ${types.typeOf(schema, `Run${capitalized(key)}`)}: ...\n`,
  )
  // Names of types come from what is returned rather than from what is sent.
  for (const { responses } of operations) {
    const given = Object.entries(responses).filter(([status]) => status < '300')
    for (const [, { content }] of given) {
      const schema = content?.['application/json']?.schema
      if (schema?.$ref) types.typeOf(schema, '')
    }
  }
  const methods = [...launchMethods(launch, types), ...operations.map((each) => methodOf(each, types))]
  const template = readFileSync(templateFile, 'utf8')
  return fill(template, {
    '# <types>\n': types.text,
    '# <transport>\n': readFileSync(transportFile, 'utf8'),
    '        # <run fields>\n        pass\n': `${runFields.join('')}        @overload\n        def __getitem__(self, key: str) -> Any: ...\n        def __getitem__(self, key: str) -> Any: ...\n`,
    '    # <operations>\n': methods.map(({ text }) => text).join('\n'),
  })
}

function fill(template: string, parts: Record<string, string>): string {
  let text = template
  for (const [mark, part] of Object.entries(parts)) {
    const pieces = text.split(mark)
    if (pieces.length !== 2) throw new Error(`the template must have ${mark.trim()} once`)
    text = pieces.join(part)
  }
  return text
}
