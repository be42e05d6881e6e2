// Turns the document that an author has signed into the one that this device runs. From the server it takes only parameter
// values that match the signed schema, the secrets that the signed document uses, the URLs of its files, and the number of
// the run; the device knows the rest itself.

import {
  checkParameterSchema,
  documentFiles,
  type FileValues,
  judgeParameters,
  namesUsed,
  ParameterError,
  type ParameterValues,
  PlaceholderError,
  type PlaceholderSource,
  parseDocument,
  placeholderText,
  resolveDocument,
  type SecretValues,
} from '@jobcast/contract/parameters'
import { canonicalJson, type SignedJob } from '@jobcast/contract/signature'
import { Refused } from '../document/document-fields.ts'
import type { Offered } from '../execution/offered.ts'
import { type WantedFile, wantedFiles } from '../files/wanted-files.ts'

export type Filled = { document: unknown; parameters: ParameterValues; secrets?: SecretValues }

export type FillDeps = {
  deviceId: string
  /** The attributes reported by this device; those set on the server are not signed. */
  attributes: () => Record<string, unknown>
}

/** Throws Refused. */
export function fillSigned(signed: SignedJob, offered: Offered, deps: FillDeps): Filled {
  try {
    return fill(signed, offered, deps)
  } catch (error) {
    if (error instanceof ParameterError) throw new Refused(`${error.field} ${error.message}`)
    if (error instanceof PlaceholderError) throw new Refused(error.message)
    throw error
  }
}

function fill(signed: SignedJob, offered: Offered, { deviceId, attributes }: FillDeps): Filled {
  const schema = signed.parameters === undefined ? undefined : checkParameterSchema(signed.parameters)
  const template = parseDocument(signed.document)
  const { values, problems } = judgeParameters(
    schema,
    offered.parameters ?? {},
    namesUsed(template, 'params'),
  )
  const [problem] = problems
  if (problem) throw new Refused(`${problem.field} ${problem.message}, according to the signed schema`)
  const unknown = template.holes.find(({ from, name }) => from === 'device' && name === 'deviceName')
  const secrets = secretsFor(namesUsed(template, 'secrets'), offered.secrets ?? {})
  const isUsed = (source: PlaceholderSource) => template.holes.some(({ from }) => from === source)
  const { document, missing } = resolveDocument(signed.document, {
    params: values,
    secrets,
    files: filesFor(signed.document, offered.files ?? {}),
    run: { runId: isUsed('run') ? runIdOf(offered) : 0 },
    device: { deviceId, deviceName: '', attributes: isUsed('attributes') ? plainValues(attributes) : {} },
  })
  const [first = unknown] = missing
  if (first) throw new Refused(`this device has no value for ${placeholderText(first)}`)
  // The signed document is what runs. But a server that sends a different one is broken or compromised: report that.
  if (!isUsed('attributes') && canonicalJson(offered.document) !== canonicalJson(document)) {
    throw new Refused('the server sent a document that differs from the signed one')
  }
  return { document, parameters: values, secrets }
}

/** Only these: the server must not set variables that the author did not intend. */
function secretsFor(names: string[], given: Readonly<Record<string, unknown>>): SecretValues {
  const entries = names.map((name): [string, string] => {
    const value = Object.hasOwn(given, name) ? given[name] : undefined
    if (typeof value !== 'string') throw new Refused(`the server sent no secret ${name}`)
    return [name, value]
  })
  return Object.fromEntries(entries)
}

/** Only files whose hash the author has signed. */
function filesFor(document: unknown, given: Readonly<Record<string, unknown>>): FileValues {
  const refs = documentFiles(document)
  const wanted = wantedFiles(document, given, true)
  const values = refs.flatMap(({ ref }, index) => {
    const { url, size, sha256 } = wanted[index] as WantedFile
    return Object.entries({ url, size, sha256 }).map(([field, value]) => [`${ref}.${field}`, value] as const)
  })
  return Object.fromEntries(values)
}

function runIdOf({ runId }: Offered): number {
  if (Number.isSafeInteger(runId) && (runId as number) > 0) return runId as number
  throw new Refused('the server sent no runId')
}

type Plain = string | number | boolean

function plainValues(attributes: FillDeps['attributes']): Record<string, Plain> {
  let values: Record<string, unknown>
  try {
    values = attributes()
  } catch (error) {
    throw new Refused(`the attributes of this device cannot be read: ${(error as Error).message}`)
  }
  const entries = Object.entries(values).filter((entry): entry is [string, Plain] =>
    ['string', 'number', 'boolean'].includes(typeof entry[1]),
  )
  return Object.fromEntries(entries)
}
