import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { loadConfig } from '../../src/config/config.ts'
import { ConfigError } from '../../src/config/config-error.ts'
import { unknownVariables } from '../../src/config/known-variables.ts'

const repository = fileURLToPath(new URL('../../../', import.meta.url))

test('a misspelled variable is a problem that names the nearest setting', () => {
  const problems = (env: NodeJS.ProcessEnv) => {
    try {
      loadConfig({}, env)
      return []
    } catch (error) {
      assert.ok(error instanceof ConfigError)
      return error.problems
    }
  }
  assert.deepEqual(problems({ JOBCAST_MAX_DEVISES: '3' }), [
    'JOBCAST_MAX_DEVISES is not a setting; did you mean JOBCAST_MAX_DEVICES?',
  ])
  assert.deepEqual(problems({ JOBCAST_TLSCERT: 'a', JOBCAST_PORTS: '1', OTHER_JOBCAST_PORTS: '1' }), [
    'JOBCAST_TLSCERT is not a setting; did you mean JOBCAST_TLS_CERT?',
    'JOBCAST_PORTS is not a setting; did you mean JOBCAST_PORT?',
  ])
  assert.deepEqual(problems({ JOBCAST_MAX_DEVICES: '3', JOBCAST_PARAM_X: '', JOBCAST_TEST_SEED: '1' }), [])
})

test('what Kubernetes says of a service that is called jobcast is no setting', () => {
  assert.deepEqual(
    unknownVariables({
      JOBCAST_SERVICE_HOST: '10.0.0.1',
      JOBCAST_SERVICE_PORT_HTTP: '8080',
      JOBCAST_PORT_8080_TCP: 'tcp://10.0.0.1:8080',
      JOBCAST_PORT_8080_TCP_ADDR: '10.0.0.1',
      JOBCAST_METRICS_SERVICE_PORT: '9464',
      JOBCAST_DB_PORT: 'tcp://10.0.0.2:5432',
    }),
    [],
  )
})

test('a long name is answered quickly', () => {
  const [problem] = unknownVariables({ [`JOBCAST_${'X'.repeat(100_000)}`]: '1' })
  assert.match(problem ?? '', /is not a setting/)
})

test('every variable that something of this repository reads or sets is known', () => {
  const named = new Set<string>()
  for (const folder of ['agent', 'cli/bin', 'cli/src', 'server/src', 'deploy', 'docs', 'examples']) {
    for (const entry of readdirSync(`${repository}${folder}`, { recursive: true, withFileTypes: true })) {
      const isText = /\.(?:ts|js|mjs|sh|md|yaml|yml|service|py|go)$|^Dockerfile$/.test(entry.name)
      if (!entry.isFile() || !isText || entry.parentPath.includes('node_modules')) continue
      const text = readFileSync(`${entry.parentPath}/${entry.name}`, 'utf8')
      for (const [name] of text.matchAll(/\bJOBCAST_[A-Z][A-Z0-9_]*[A-Z0-9]\b/g)) named.add(name)
    }
  }
  assert.ok(named.size > 30)
  assert.deepEqual(unknownVariables(Object.fromEntries([...named].map((name) => [name, '1']))), [])
})
