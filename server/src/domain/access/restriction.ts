// What a key is restricted to, besides its scopes. Anything outside is treated as unknown. Which operations a restricted caller
// may use, and how each applies the restriction, is in restricted-operations.ts. A key restricted only to addresses sees
// everything of its owner, from these addresses.

import type { Scope } from '@jobcast/contract'
import { ApiError } from '@jobcast/contract/words'
import { isInRanges, isRangeWithin } from './address-ranges.ts'
import { bothOf, keySelectorProblem } from './key-selector.ts'
import { matchesJob } from './matches-job.ts'

export type Restriction = {
  /** Job names, or prefixes followed by `*`. */
  readonly jobs?: readonly string[]
  /** A selector of devices (key-selector.ts). */
  readonly where?: string
  /** Addresses or ranges. */
  readonly addresses?: readonly string[]
}

const kinds: { readonly [Kind in keyof Required<Restriction>]: (value: unknown) => boolean } = {
  jobs: isListOfTexts,
  where: (value) => typeof value === 'string',
  addresses: isListOfTexts,
}

type Given = { [Name in keyof Restriction]?: Restriction[Name] | undefined }
type Restricted = { readonly restriction?: Restriction | null | undefined }

/** Whether it cannot see everything of its owner. */
export function isConfined({ restriction }: Restricted): boolean {
  return restriction?.jobs !== undefined || restriction?.where !== undefined
}

export function isConfinedToJobs({ restriction }: Restricted): boolean {
  return restriction?.jobs !== undefined
}

export function isConfinedToDevices({ restriction }: Restricted): boolean {
  return restriction?.where !== undefined
}

/**
 * False: a newer version has stored a restriction that this version does not know. Such a key is refused, because without the
 * restriction it could do more than it was created for.
 */
export function isUnderstood({ restriction }: Restricted): boolean {
  if (restriction === null || restriction === undefined) return true
  if (typeof restriction !== 'object' || Array.isArray(restriction)) return false
  return Object.entries(restriction).every(([kind, value]) => {
    return Object.hasOwn(kinds, kind) && kinds[kind as keyof Restriction](value)
  })
}

function isListOfTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((each) => typeof each === 'string')
}

/** Whether it may be used from this address. `address`: undefined if unknown. */
export function isFrom({ restriction }: Restricted, address: string | undefined): boolean {
  const addresses = restriction?.addresses
  return addresses === undefined || (address !== undefined && isInRanges(addresses, address))
}

export function mayUseJob({ restriction }: Restricted, jobName: string): boolean {
  return restriction?.jobs === undefined || matchesJob(restriction.jobs, jobName)
}

export function requireJob(caller: Restricted, jobName: string): void {
  if (!mayUseJob(caller, jobName)) throw new ApiError('J-301')
}

/** A filter for lists of what belongs to jobs; empty for a caller that sees all of them. */
export function jobFilterOf({ restriction }: Restricted): { jobs?: readonly string[] } {
  return restriction?.jobs === undefined ? {} : { jobs: restriction.jobs }
}

/**
 * The restriction of a key that a caller creates: at least the caller's own, and the requested one must lie within it. Null:
 * none.
 */
export function restrictionWithin(
  { restriction: bound }: Restricted,
  asked: Given,
  scopes: readonly Scope[],
): Restriction | null {
  const jobs = asked.jobs ?? bound?.jobs
  const where = whereWithin(asked.where, bound?.where)
  const addresses = asked.addresses ?? bound?.addresses
  refuseOutside('jobs', jobs, bound?.jobs, isPatternWithin)
  refuseOutside('addresses', addresses, bound?.addresses, isRangeWithin)
  const field = jobs !== undefined ? 'jobs' : 'where'
  if ((jobs ?? where) !== undefined && scopes.includes('ADMIN')) {
    const detail = `A key with ADMIN cannot be restricted to ${field === 'jobs' ? 'jobs' : 'devices'}.`
    throw new ApiError('J-500', { field, detail })
  }
  return restrictionOf({ jobs, where, addresses })
}

/** Null: nothing is given. */
export function restrictionOf({ jobs, where, addresses }: Given): Restriction | null {
  if (!jobs && where === undefined && !addresses) return null
  return { ...(jobs && { jobs }), ...(where !== undefined && { where }), ...(addresses && { addresses }) }
}

/** Selectors cannot be compared, so the created key gets the intersection of both. */
function whereWithin(asked: string | undefined, bound: string | undefined): string | undefined {
  if (asked === undefined) return bound
  const problem = keySelectorProblem(asked)
  if (problem !== undefined) throw new ApiError('J-500', { field: 'where', detail: `${problem}.` })
  const both = bound === undefined ? asked : bothOf(bound, asked)
  if (both !== undefined) return both
  const detail = 'where is too long when combined with the selector of the key that creates it.'
  throw new ApiError('J-500', { field: 'where', detail })
}

function refuseOutside(
  field: 'jobs' | 'addresses',
  asked: readonly string[] | undefined,
  bound: readonly string[] | undefined,
  isWithin: (one: string, other: string) => boolean,
): void {
  if (bound === undefined) return
  const outside = asked?.find((one) => !bound.some((other) => isWithin(one, other)))
  if (outside === undefined) return
  const detail = `${JSON.stringify(outside)} is outside of the ${field} that the key that creates it is restricted to.`
  throw new ApiError('J-500', { field, detail })
}

export function isPatternWithin(one: string, other: string): boolean {
  return one === other || (other.endsWith('*') && one.startsWith(other.slice(0, -1)))
}

export function isSameRestriction(one: Restriction | null, other: Restriction | null): boolean {
  const texts = (restriction: Restriction | null) =>
    JSON.stringify(
      [restriction?.jobs, restriction?.where, restriction?.addresses].map((each) => each ?? null),
    )
  return texts(one) === texts(other)
}
