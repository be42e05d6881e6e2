// Settings for sign-in (oidc-…), and for token exchange (oidc-trust). Without them there are only API keys.

import { existsSync, readFileSync } from 'node:fs'
import { scopes } from '@jobcast/contract'
import { parse as parseYaml } from 'yaml'
import { type GroupRoles, type RoleGrant, roles } from '../domain/access/roles.ts'
import { isSubjectPattern, type TrustRule } from '../domain/access/trust.ts'
import type { OidcSettings } from '../oidc/open-id-issuer.ts'
import { readRestriction, restrictionFields, restrictionProblem } from './restriction-settings.ts'
import type { SettingName } from './settings.ts'

export type OidcConfig = Readonly<{
  /** The address that people and devices use, without a slash at the end. */
  publicUrl: string | undefined
  /** The issuer for people. */
  oidc: Readonly<OidcSettings & { roles: GroupRoles }> | undefined
  /** Rules for token exchange. */
  oidcTrust: readonly TrustRule[]
}>

type Read = (name: SettingName) => unknown

export function readOidc(read: Read, problems: string[]): OidcConfig {
  const publicUrl = readPublicUrl(read('public-url') as string | undefined, problems)
  const oidcTrust = readTrust(read('oidc-trust'), problems)
  const issuer = read('oidc-issuer') as string | undefined
  const clientId = read('oidc-client-id') as string | undefined
  const given = read('oidc-roles')
  const clientSecret = readClientSecret(read, problems)
  if (issuer === undefined) {
    for (const [name, value] of Object.entries({ 'oidc-client-id': clientId, 'oidc-roles': given }))
      if (value !== undefined) problems.push(`${name} is set, but oidc-issuer is not`)
    return { publicUrl, oidc: undefined, oidcTrust }
  }
  const wrong = issuerProblem(issuer)
  if (wrong !== undefined) problems.push(`oidc-issuer is "${issuer}"; it ${wrong}`)
  if (publicUrl === undefined)
    problems.push('oidc-issuer needs public-url: the issuer sends people back to it')
  if (clientId === undefined) problems.push('oidc-issuer needs oidc-client-id')
  const groupRoles = readRoles(given, problems)
  const wanted = (read('oidc-scopes') as string).split(/[\s,]+/).filter((each) => each !== '')
  if (!wanted.includes('openid')) problems.push('oidc-scopes must have "openid" in it')
  const claim = read('oidc-claim') as string
  const settings = { issuer, clientId: clientId ?? '', clientSecret, scopes: wanted.join(' '), claim }
  return { publicUrl, oidc: { ...settings, roles: groupRoles }, oidcTrust }
}

function readPublicUrl(text: string | undefined, problems: string[]): string | undefined {
  if (text === undefined) return undefined
  const url = URL.parse(text)
  const isOrigin = url !== null && /^https?:$/.test(url.protocol) && `${url.origin}/` === url.href
  if (!isOrigin) problems.push(`public-url is "${text}", not an address such as https://jobcast.example.com`)
  return url?.origin
}

function readClientSecret(read: Read, problems: string[]): string | undefined {
  const given = read('oidc-client-secret') as string | undefined
  const file = read('oidc-client-secret-file') as string | undefined
  if (file === undefined) return given
  if (given !== undefined)
    problems.push('oidc-client-secret and oidc-client-secret-file are both set; set one of them')
  try {
    const text = readFileSync(file, 'utf8').trim()
    if (text === '') problems.push(`the file ${file} of oidc-client-secret-file is empty`)
    return text || undefined
  } catch (error) {
    problems.push(`the file of oidc-client-secret-file cannot be read: ${(error as Error).message}`)
    return undefined
  }
}

function readRoles(given: unknown, problems: string[]): GroupRoles {
  const content = readDocument('oidc-roles', given, problems)
  const groups = new Map<string, RoleGrant[]>()
  if (!isMap(content) || Object.keys(content).length === 0) {
    problems.push('oidc-roles must map groups to roles, for example {ops: {owner: default, role: operator}}')
    return groups
  }
  for (const [group, value] of Object.entries(content)) {
    const grants = (Array.isArray(value) ? value : [value]).filter((each): each is RoleGrant => {
      const isGrant = isMap(each) && isText(each.owner) && roles.some((role) => role === each.role)
      if (!isGrant)
        problems.push(`oidc-roles: "${group}" needs an owner and a role, which is one of ${roles.join(', ')}`)
      // Unknown fields are refused as in oidc-trust, because they may be meant as restrictions.
      const unknown = isGrant && Object.keys(each).find((name) => !roleFields.includes(name))
      if (typeof unknown === 'string')
        problems.push(
          `oidc-roles: "${group}" has "${unknown}", which is not supported; use ${roleFields.join(', ')}`,
        )
      const wrong = isGrant ? restrictionProblem(each, each.role === 'admin') : undefined
      if (wrong !== undefined) problems.push(`oidc-roles: "${group}": ${wrong}`)
      return isGrant && wrong === undefined
    })
    groups.set(
      group,
      grants.map(({ owner, role, ...more }) => ({ owner, role, ...readRestriction(more) })),
    )
  }
  return groups
}

const roleFields = ['owner', 'role', ...restrictionFields]
const trustFields = ['issuer', 'audience', 'subject', 'owner', 'scopes', ...restrictionFields]
const grantable = scopes.filter((scope) => scope !== 'ADMIN')

function readTrust(given: unknown, problems: string[]): TrustRule[] {
  if (given === undefined) return []
  const content = readDocument('oidc-trust', given, problems)
  if (!Array.isArray(content)) {
    problems.push('oidc-trust must be a list of {issuer, audience, subject, owner, scopes}')
    return []
  }
  return content.flatMap((each: unknown, index): TrustRule[] => {
    const wrong = isMap(each) ? trustProblem(each) : 'it is not a map'
    if (wrong !== undefined) {
      problems.push(`oidc-trust, rule ${index + 1}: ${wrong}`)
      return []
    }
    const { issuer, audience, subject, owner, scopes } = each as TrustRule
    const restriction = readRestriction(each as Record<string, unknown>)
    return [{ issuer, audience, subject, owner, scopes, ...restriction }]
  })
}

function trustProblem(rule: Record<string, unknown>): string | undefined {
  const { issuer, audience, subject, owner, scopes: granted } = rule
  // Unknown fields are refused, because ignoring a restriction would grant too much.
  const unknown = Object.keys(rule).find((name) => !trustFields.includes(name))
  if (unknown !== undefined) return `"${unknown}" is not supported; use ${trustFields.join(', ')}`
  const wrong = issuerProblem(isText(issuer) ? issuer : '')
  if (wrong !== undefined) return `issuer ${wrong}`
  if (!isText(audience)) return 'audience is missing'
  if (!isText(owner)) return 'owner is missing'
  if (!isText(subject)) return 'subject is missing'
  if (!isSubjectPattern(subject)) return `subject "${subject}" must not consist of wildcards only`
  const isList = Array.isArray(granted) && granted.length > 0
  if (!isList || !granted.every((scope) => grantable.includes(scope as never)))
    return `scopes must be a list of ${grantable.join(', ')}`
  return restrictionProblem(rule, false)
}

/** A value of the configuration file, YAML text, or the name of a YAML file. */
function readDocument(name: string, given: unknown, problems: string[]): unknown {
  if (typeof given !== 'string') return given
  const isFile = !/[{[\n]/.test(given) || existsSync(given)
  try {
    return parseYaml(isFile ? readFileSync(given, 'utf8') : given)
  } catch (error) {
    problems.push(`${name} cannot be read: ${(error as Error).message}`)
    return undefined
  }
}

const entraHost = /^(?:login|sts)\.(?:partner\.)?(?:microsoftonline|windows)\.[a-z]+$/
/** Refused, because anyone can create a tenant with roles and groups of any name. */
const allTenants = /^\/(?:common|organizations|consumers)(?:\/|$)/i

/** Unencrypted connections are only allowed on this machine. */
function issuerProblem(text: string): string | undefined {
  const url = URL.parse(text)
  const isLocal = ['localhost', '127.0.0.1', '[::1]'].includes(url?.hostname ?? '')
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && isLocal)
  if (url === null || !isSafe || url.search !== '' || url.hash !== '')
    return 'must be a URL with https (http on loopback only)'
  const isForAll = entraHost.test(url.hostname) && allTenants.test(url.pathname)
  return isForAll ? 'must be that of one tenant: this one signs in people of all tenants of Entra' : undefined
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}
