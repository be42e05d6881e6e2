import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadConfig } from '../../src/config/config.ts'
import { ConfigError } from '../../src/config/config-error.ts'

const flags = {
  'public-url': 'https://jobcast.example.com',
  'oidc-issuer': 'https://login.example.com/common',
  'oidc-client-id': 'jobcast',
  'oidc-roles': '{ops: {owner: default, role: operator}}',
}

function problemOf(changed: Record<string, string>): string {
  try {
    loadConfig({ ...flags, ...changed }, {})
  } catch (error) {
    if (error instanceof ConfigError) return error.message
    throw error
  }
  return ''
}

test('settings as they should be', () => {
  assert.equal(problemOf({}), '')
  const entra = 'https://login.microsoftonline.com/6f1d2c3b-0000-4000-8000-000000000000/v2.0'
  assert.equal(problemOf({ 'oidc-issuer': entra }), '')
})

test('a field of oidc-roles that is not known is refused: it may be meant as a restriction', () => {
  const roles = '{ops: [{owner: default, role: admin, device: d1}]}'
  assert.match(problemOf({ 'oidc-roles': roles }), /oidc-roles: "ops" has "device", which is not supported/)
})

test('an issuer for all tenants of Entra is refused', () => {
  for (const tenant of ['common', 'organizations', 'consumers', 'Common']) {
    const issuer = `https://login.microsoftonline.com/${tenant}/v2.0`
    assert.match(problemOf({ 'oidc-issuer': issuer }), /oidc-issuer is .*must be that of one tenant/)
    const rule = `[{issuer: "${issuer}", audience: a, subject: s, owner: default, scopes: [READ]}]`
    assert.match(problemOf({ 'oidc-trust': rule }), /oidc-trust, rule 1: issuer must be that of one tenant/)
  }
})

test('an issuer in clear text is refused but on this machine', () => {
  assert.equal(problemOf({ 'oidc-issuer': 'http://127.0.0.1:9000' }), '')
  assert.match(problemOf({ 'oidc-issuer': 'http://login.example.com' }), /must be a URL with https/)
})

test('roles and trust rules take restrictions, and wrong ones are refused', () => {
  const rule = 'issuer: "https://ci.example.com", audience: a, subject: s, owner: default, scopes: [READ]'
  const config = loadConfig(
    {
      ...flags,
      'oidc-roles':
        '{ops: {owner: default, role: operator, jobs: ["a-*"], where: "tag=a", addresses: ["10.0.0.0/8"]}}',
      'oidc-trust': `[{${rule}, jobs: [b]}, {${rule}}]`,
    },
    {},
  )
  assert.deepEqual(config.oidc?.roles.get('ops'), [
    {
      owner: 'default',
      role: 'operator',
      restriction: { jobs: ['a-*'], where: 'tag=a', addresses: ['10.0.0.0/8'] },
    },
  ])
  assert.deepEqual(config.oidcTrust[0]?.restriction, { jobs: ['b'] })
  assert.equal(config.oidcTrust[1]?.restriction, undefined)
  for (const wrong of [
    'jobs: []',
    'jobs: a',
    'jobs: ["a*b"]',
    'where: online',
    'where: [tag=a]',
    'where: ""',
    'where: "tag="',
    'addresses: [here]',
    'addresses: [1]',
    'devices: all',
  ]) {
    assert.match(problemOf({ 'oidc-trust': `[{${rule}, ${wrong}}]` }), /oidc-trust, rule 1: /, wrong)
    const roles = `{ops: {owner: default, role: operator, ${wrong}}}`
    assert.match(problemOf({ 'oidc-roles': roles }), /oidc-roles: "ops"/, wrong)
  }
  const admin = '{ops: {owner: default, role: admin, jobs: [a]}}'
  assert.match(problemOf({ 'oidc-roles': admin }), /the role admin cannot be restricted to jobs/)
})
