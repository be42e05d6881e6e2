// Roles of people: the groups that the issuer names are mapped to roles at owners, and a role is a set of scopes.

import { type Scope, scopes } from '@jobcast/contract'
import { isSameRestriction, type Restriction } from './restriction.ts'

const scopesOf = {
  viewer: ['READ'],
  operator: ['READ', 'TRIGGER'],
  manager: ['READ', 'TRIGGER', 'MANAGE'],
  approver: ['READ', 'APPROVE'],
  auditor: ['READ', 'AUDIT'],
  admin: ['ADMIN'],
} as const satisfies Record<string, readonly string[]>

type Role = keyof typeof scopesOf
export const roles = Object.keys(scopesOf) as Role[]

/** `owner`: its name or its id. */
export type RoleGrant = {
  readonly owner: string
  readonly role: Role
  readonly restriction?: Restriction | null
}
/** By the name of the group. */
export type GroupRoles = ReadonlyMap<string, readonly RoleGrant[]>

export type Granted = { scopes: Scope[]; restriction: Restriction | null }

/**
 * What the groups allow, by owner, in the order of the setting. Roles with the same restriction add up; of several
 * restrictions the first one wins and roles with others are ignored, because restrictions cannot be combined.
 */
export function grantsOf(groupRoles: GroupRoles, groups: readonly string[]): Map<string, Granted> {
  const held = new Set(groups)
  const granted = new Map<string, Granted>()
  for (const [group, grants] of groupRoles) {
    if (!held.has(group)) continue
    for (const { owner, role, restriction = null } of grants) {
      const added = { scopes: [...scopesOf[role]], restriction }
      granted.set(owner, addGrant(granted.get(owner), added))
    }
  }
  return granted
}

export function addGrant(before: Granted | undefined, added: Granted): Granted {
  if (before && !isSameRestriction(before.restriction, added.restriction)) return before
  const held = new Set([...(before?.scopes ?? []), ...added.scopes])
  return { ...added, scopes: scopes.filter((scope) => held.has(scope)) }
}
