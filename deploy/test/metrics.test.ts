// What a server counts, that the text is what Prometheus reads, and that rules and dashboard ask for nothing else.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { newDevice } from '@jobcast/testkit/call-device'
import { openSharedServer } from '@jobcast/testkit/shared-server'
import { waitUntil } from '@jobcast/testkit/wait-until'
import { readText, repository } from './files.ts'

type Panel = { title: string; targets: { expr: string }[] }

const api = await openSharedServer()
await api.putJobAndDevices('restart', [])
const device = await newDevice(api, 'a')
const metrics = async () => (await fetch(`${api.http}/metrics`)).text()

test('executions are counted by job and state, with the time to their start and end', async () => {
  const [first] = (await api.trigger('restart', ['a'])).json
  await device.startNext()
  await device.update(first.jobExecutionId, 'FAILED')
  const [second] = (await api.trigger('restart', ['a'])).json
  await api.call('POST', `/job/api/executions/${second.jobExecutionId}/cancel`)
  await api.call('GET', '/job/api/runs', { key: 'jc_nobody' })
  await waitUntil('everything is counted', async () => {
    const text = await metrics()
    return [
      /^jobcast_executions_started_total\{job="restart"\} 1$/m,
      /^jobcast_executions_ended_total\{job="restart",state="FAILED"\} 1$/m,
      /^jobcast_executions_ended_total\{job="restart",state="CANCELED"\} 1$/m,
      /^jobcast_execution_start_delay_seconds_count 1$/m,
      /^jobcast_execution_duration_seconds_count\{state="FAILED"\} 1$/m,
      /^jobcast_auth_failures_total\{code="J-802"\} 1$/m,
      /^jobcast_devices_online\{transport="http"\} 1$/m,
      /^jobcast_executions_pending \d+$/m,
      /^jobcast_oldest_pending_age_seconds [\d.]+$/m,
      /^jobcast_build_info\{version="[\d.]+",node="v[\d.]+",store="sqlite"\} 1$/m,
    ].every((pattern) => pattern.test(text))
  })
})

const promtool = spawnSync('promtool', ['--version']).error === undefined

test('promtool finds nothing to say', { skip: promtool ? false : 'there is no promtool here' }, async () => {
  const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], {
    input: await metrics(),
    encoding: 'utf8',
  })
  assert.deepEqual([status, stdout, stderr], [0, '', ''])
  const rules = spawnSync('promtool', ['check', 'rules', `${repository}/deploy/prometheus/alerts.yaml`])
  assert.equal(rules.status, 0, String(rules.stderr))
})

/** As promtool check metrics does: help and type once, before the samples; names by convention; every line a sample. */
test('the text of the metrics is well formed', async () => {
  const text = await metrics()
  assert.ok(text.endsWith('\n'))
  const types = new Map<string, string>()
  const helped = new Set<string>()
  for (const line of text.trimEnd().split('\n')) {
    const [, kind, name = '', rest = ''] = /^# (HELP|TYPE) ([a-z_:][a-z0-9_:]*) (.+)$/.exec(line) ?? []
    if (kind === 'HELP') {
      assert.ok(!helped.has(name), `${name} is described twice`)
      helped.add(name)
    } else if (kind === 'TYPE') {
      assert.ok(helped.has(name) && !types.has(name), name)
      types.set(name, rest)
      assert.equal(name.endsWith('_total'), rest === 'counter', `${name}: ${rest}`)
      assert.doesNotMatch(name, /_(ms|milliseconds|minutes|hours|days|kb|mb|gb|percent)(_|$)/, name)
      assert.doesNotMatch(name, /_(counter|gauge|histogram|summary)(_|$)/, name)
      assert.doesNotMatch(name, /_(bucket|count|sum)$/, name)
    } else if (line !== '') {
      const sample =
        /^([a-z_:][a-z0-9_:]*)(?:\{(?:[a-z_]\w*="(?:[^"\\]|\\.)*",?)*\})? (?:[\d.e+-]+|NaN|[+-]Inf)$/
      const [, found = ''] = sample.exec(line) ?? []
      const base = found.replace(/_(bucket|sum|count)$/, '')
      assert.ok(types.has(found) || types.has(base), line)
    }
  }
  assert.ok(types.size > 30)
})

type Variable = { name: string; query: string | { query: string } }
type Dashboard = { panels: Panel[]; templating: { list: Variable[] } }
const dashboard = JSON.parse(readText('deploy/grafana/jobcast.json')) as Dashboard

test('the dashboard has variables for the scrape job and the node, which every panel uses', () => {
  const variables = dashboard.templating.list.map(({ name, query }) => [
    name,
    typeof query === 'string' ? query : query.query,
  ])
  assert.deepEqual(variables, [
    ['datasource', 'prometheus'],
    ['job', 'label_values(jobcast_build_info, job)'],
    ['instance', 'label_values(jobcast_build_info{job=~"$job"}, instance)'],
  ])
  for (const { title, targets } of dashboard.panels) {
    for (const { expr } of targets) {
      const selectors = expr.match(/\w+\{[^}]*\}/g) ?? []
      assert.ok(selectors.length > 0, title)
      for (const selector of selectors)
        assert.ok(selector.includes('{job=~"$job",instance=~"$instance"'), `${title}: ${selector}`)
      // Without braces a metric would be that of all services.
      assert.doesNotMatch(expr, /\b(?:jobcast|process|nodejs)_\w+(?![\w{])/, title)
    }
  }
})

test('every metric of the dashboard is one that a server has', async () => {
  const text = await metrics()
  const { panels } = dashboard
  assert.ok(panels.length >= 18)
  for (const { title, targets } of panels) {
    for (const { expr } of targets) {
      const names = [...expr.matchAll(/\b(?:jobcast|process|nodejs)_\w+/g)].map(([name]) => name)
      assert.ok(names.length > 0, title)
      for (const name of names) {
        const base = name.replace(/_(bucket|count)$/, '')
        assert.match(text, new RegExp(`^# TYPE ${base} `, 'm'), `${title}: ${name}`)
      }
    }
  }
})
