// Jobs in a fleet file.

import {
  defaultPriority,
  defaultRetry,
  type JobContent,
  jobs,
  maxDocumentBytes,
  type Rollout,
  requiredApprovals,
  rolloutProblem,
  toApproval,
} from '@jobcast/contract'
import {
  checkParameterSchema,
  namesUsed,
  ParameterError,
  PlaceholderError,
  parseDocument,
} from '@jobcast/contract/parameters'
import { type Envelope, mergeEnvelopes, requireSignatures, SignatureError } from '@jobcast/contract/signature'
import { type Fields, kindOf, sorted } from './kind.ts'

export const jobKind = kindOf(jobs, {
  refusal(name, content) {
    const { document = {}, rollout, parameters } = content
    if (name === 'execute') return 'the name "execute" is reserved'
    const problem = rollout === undefined ? undefined : rolloutProblem(rollout as Rollout)
    if (problem) return problem.detail
    const wrong = parametersProblem(document, parameters)
    if (wrong) return wrong
    const isTooLarge = Buffer.byteLength(JSON.stringify(document)) > maxDocumentBytes
    return isTooLarge ? 'the document is larger than 64 KiB' : signatureProblem(name, content)
  },
  filled: (_name, content) => ({
    description: content.description ?? '',
    document: content.document ?? {},
    parameters: content.parameters ?? null,
    expireAfterSeconds: content.expireAfterSeconds ?? null,
    timeoutSeconds: content.timeoutSeconds ?? null,
    deadlineSeconds: content.deadlineSeconds ?? null,
    retry: filledRetry(content.retry as JobContent['retry']),
    rollout: content.rollout ?? null,
    approval: toApproval(requiredApprovals(content.approval as JobContent['approval'])),
    window: content.window ?? null,
    priority: content.priority ?? defaultPriority,
    signatures: filledSignatures(content.signatures as JobContent['signatures']),
  }),
})

/** The same checks as on the server, before anything is sent. */
function parametersProblem(document: unknown, parameters: unknown): string | undefined {
  try {
    const declared = parameters === undefined ? {} : (checkParameterSchema(parameters).properties ?? {})
    const unknown = namesUsed(parseDocument(document), 'params').find(
      (name) => !Object.hasOwn(declared, name),
    )
    return unknown && `the document has the placeholder \${params.${unknown}}, which no parameter declares`
  } catch (error) {
    if (error instanceof ParameterError) return `${error.field} ${error.message}`
    if (error instanceof PlaceholderError) return `the document cannot be resolved: ${error.message}`
    throw error
  }
}

function signatureProblem(name: string, content: Fields): string | undefined {
  try {
    requireSignatures(name, content, Date.now())
    return undefined
  } catch (error) {
    if (!(error instanceof SignatureError)) throw error
    return error.message
  }
}

/** The server stores signatures as one envelope. They have been checked before. */
function filledSignatures(given: JobContent['signatures']): Envelope[] {
  const envelope = mergeEnvelopes(given ?? [])
  return envelope === undefined ? [] : [envelope]
}

/** Fills in the same defaults as the server; a test compares the two. */
function filledRetry(given: JobContent['retry']): Fields | null {
  if (given === undefined) return null
  const retry = { ...defaultRetry, ...given }
  return { ...retry, on: sorted(retry.on) }
}
