// Rules on a metric that does not exist never fire.

import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { test } from 'node:test'
import { openServer } from '@jobcast/testkit/open-server'
import { anchorsOf } from '../../docs/test/markdown.ts'
import { readText, readYaml, repository } from './files.ts'

type Rule = {
  alert: string
  expr: string
  annotations: { summary: string; description: string; runbook_url: string }
}
const { groups } = readYaml<{ groups: { rules: Rule[] }[] }>('deploy/prometheus/alerts.yaml')
const rules = groups.flatMap((group) => group.rules)

test('every metric of the alert rules is one that a server has', async (t) => {
  const { server, adminKey } = await openServer(t)
  // A route counts once it was called.
  await fetch(`${server.http}/job/api/jobs/execute`, { method: 'POST', headers: { 'X-API-Key': adminKey } })
  const text = await (await fetch(`${server.http}/metrics`)).text()
  for (const { alert, expr } of rules) {
    for (const [name] of expr.matchAll(/\b(jobcast|process|nodejs)_\w+/g)) {
      assert.match(text, new RegExp(`^# TYPE ${name.replace(/_bucket$/, '')} `, 'm'), `${alert}: ${name}`)
    }
    for (const [label] of expr.matchAll(/\broute="[^"]+"/g))
      assert.ok(text.includes(label), `${alert}: ${label}`)
  }
  const named = new Set(rules.flatMap(({ expr }) => expr.match(/\bjobcast_\w+/g) ?? []))
  assert.ok(named.size >= 9)
})

test('every alert says where to read on, in a section that exists', () => {
  for (const { alert, annotations } of rules) {
    const { origin, pathname, hash } = new URL(annotations.runbook_url)
    assert.equal(origin, 'https://jobcast.example')
    const [page, anchor] = [pathname.slice(1), hash.slice(1)]
    assert.ok(
      existsSync(`${repository}/${page}`) && anchorsOf(readText(page)).has(anchor),
      `${alert}: ${annotations.runbook_url}`,
    )
    assert.ok(annotations.summary && annotations.description, alert)
  }
  assert.equal(new Set(rules.map(({ alert }) => alert)).size, rules.length)
})
