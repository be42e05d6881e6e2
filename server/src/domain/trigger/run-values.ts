// The values of a run's parameters: judged by the schema of its job, stored once for all its executions.

import { ApiError, type NewRun, type OnMissing } from '@jobcast/contract'
import {
  type DocumentTemplate,
  fillTemplate,
  judgeParameters,
  maskNamed,
  matchingSteps,
  maxMatchSteps,
  namesUsed,
  type ParameterSchema,
  type ParameterValues,
  parseDocument,
  secretNames,
} from '@jobcast/contract/parameters'
import type { Caller } from '../access/caller.ts'
import type { OwnerTurns } from '../access/ports/owner-turns.ts'
import type { SecretBox } from '../access/ports/secret-box.ts'
import type { Store } from '../common/ports/store.ts'
import { requireFiles } from '../file/file.ts'
import type { StoredJobContent, StoredJobVersion } from '../job/ports/jobs.ts'
import { requireSecrets } from '../secret/secret.ts'
import { toRunJob } from './launch-run.ts'
import type { RunValues } from './ports/runs.ts'
import type { RunJob } from './trigger.ts'

export type ValuesDeps = {
  secretBox: SecretBox
  ownerTurns: OwnerTurns
  store: Pick<Store, 'getDocument' | 'listLacking' | 'listLackingNos' | 'findSecrets' | 'findFiles'>
}

/** What of a version decides about values. */
export type ValuedContent = Pick<StoredJobContent, 'parameters' | 'hasPlaceholders'> & { document: unknown }

export type GivenValues = {
  parameters?: Record<string, unknown> | undefined
  /** Names of those that are secrets whatever the schema says. */
  keptSecret?: string[]
  onMissing?: OnMissing | undefined
}

/** So that a device can receive it; without what differs by device, which is bounded by its attributes. */
const maxResolvedLength = 128 * 1024

/** Above this, matching patterns takes turns: about 0.5 ms. */
const fewSteps = 20_000

/** With defaults. Throws J-500 at the parameter. */
export async function requireValues(
  turns: OwnerTurns,
  ownerNo: number,
  content: ValuedContent,
  given: Record<string, unknown> = {},
): Promise<ParameterValues> {
  const { parameters: schema } = content
  const steps = matchingSteps(schema, given)
  if (steps > fewSteps) await turns.take(ownerNo, Math.min(steps, maxMatchSteps))
  const template = templateOf(content)
  const { values, problems } = judgeParameters(
    schema,
    given,
    template ? namesUsed(needed(template), 'params') : [],
  )
  const [problem] = problems
  if (problem) {
    const { field, message } = problem
    throw new ApiError('J-500', { field, detail: `${field} ${message}.` })
  }
  if (template) {
    const { texts } = fillTemplate(template, {
      params: values,
      run: { runId: Number.MAX_SAFE_INTEGER },
    }).template
    if (texts.reduce((sum, text) => sum + text.length, 0) > maxResolvedLength) {
      const detail = 'With these parameters the document is larger than 128 KiB.'
      throw new ApiError('J-500', { field: 'parameters', detail })
    }
  }
  return values
}

export function templateOf({ document, hasPlaceholders }: ValuedContent): DocumentTemplate | undefined {
  return hasPlaceholders ? parseDocument(document) : undefined
}

/** Those that a document cannot do without. */
export function needed({ texts, holes }: DocumentTemplate): DocumentTemplate {
  return { texts, holes: holes.filter(({ otherwise }) => otherwise === undefined) }
}

/** With the version that they are for; undefined: the job needs none, and none are given. */
export type ValuesOfRun = { pinned?: RunJob; values?: RunValues }

/** Throws J-500 at the parameter, and J-318 or J-319 for a secret or a file of an earlier version that was deleted since. */
export async function valuesForRun(
  { secretBox, ownerTurns, store }: ValuesDeps,
  { ownerNo }: Pick<Caller, 'ownerNo'>,
  job: StoredJobVersion,
  { version, parameters }: Pick<NewRun, 'version' | 'parameters'>,
): Promise<ValuesOfRun> {
  const isValued = job.parameters || job.hasPlaceholders || parameters !== undefined
  if (!isValued) return version === undefined ? {} : { pinned: toRunJob(job, job) }
  await requireSecrets({ store }, { ownerNo }, job.secrets)
  await requireFiles({ store }, { ownerNo }, job.files)
  const judged = await requireValues(ownerTurns, ownerNo, job, parameters)
  return { pinned: toRunJob(job, job), values: sealValues(secretBox, ownerNo, job.parameters, judged) }
}

/** `keptSecret`: what was given as a secret stays one in a version that declares it otherwise. */
export function sealValues(
  box: SecretBox,
  ownerNo: number,
  schema: ParameterSchema | undefined,
  values: ParameterValues,
  keptSecret: readonly string[] = [],
): RunValues {
  const declared = [...new Set([...secretNames(schema), ...keptSecret])]
  const names = declared.filter((name) => Object.hasOwn(values, name))
  if (names.length === 0) return { parameters: values, secrets: null }
  const secrets = Object.fromEntries(names.map((name) => [name, values[name]]))
  return { parameters: maskNamed(names, values), secrets: box.encrypt(JSON.stringify(secrets), ownerNo) }
}

export function openValues(
  box: SecretBox,
  ownerNo: number,
  { parameters, secrets }: RunValues,
): ParameterValues {
  return { ...parameters, ...openSecrets(box, ownerNo, secrets) }
}

/** Only the secrets among them. */
export function openSecrets(box: SecretBox, ownerNo: number, secrets: RunValues['secrets']): ParameterValues {
  return secrets === null ? {} : JSON.parse(box.decrypt(secrets, ownerNo))
}
