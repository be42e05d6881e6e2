// The values of a run's parameters: validated against the job's schema, stored once for all executions.

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
  store: Pick<
    Store,
    'getDocument' | 'listWithoutValues' | 'listNosWithoutValues' | 'findSecrets' | 'findFiles'
  >
}

/** The part of a job version that concerns values. */
export type ValuedContent = Pick<StoredJobContent, 'parameters' | 'hasPlaceholders'> & { document: unknown }

export type GivenValues = {
  parameters?: Record<string, unknown> | undefined
  /** Names of values that stay secrets, whatever the schema says. */
  keptSecret?: string[]
  onMissing?: OnMissing | undefined
}

/** What a device can receive; without device-specific parts, which are bounded by the limits of attributes. */
const maxResolvedLength = 128 * 1024

/** Above this, about 0.5 ms, pattern matching waits for the owner's turn. */
const fewSteps = 20_000

/** Validates values and adds defaults. Throws J-500 with the parameter as field. */
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

/** The placeholders without a default. */
export function needed({ texts, holes }: DocumentTemplate): DocumentTemplate {
  return { texts, holes: holes.filter(({ otherwise }) => otherwise === undefined) }
}

/** The values and the version they were validated for; both undefined: the job needs no values, and none are given. */
export type ValuesOfRun = { pinned?: RunJob; values?: RunValues }

/** Throws J-500 with the parameter as field, and J-318 or J-319 if a secret or file of an earlier version was deleted. */
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

/** `keptSecret`: values given as secrets stay secrets, even if another version no longer declares them so. */
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

/** Only the secret values. */
export function openSecrets(box: SecretBox, ownerNo: number, secrets: RunValues['secrets']): ParameterValues {
  return secrets === null ? {} : JSON.parse(box.decrypt(secrets, ownerNo))
}
