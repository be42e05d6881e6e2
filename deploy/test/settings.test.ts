// The files of deploy/ use existing settings, and matching ports.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, globSync } from 'node:fs'
import { describe, test } from 'node:test'
import { agentCommand } from '../../cli/src/commands/agent.ts'
import { loadConfig } from '../../server/src/config/config.ts'
import { envName, type SettingName, settings } from '../../server/src/config/settings.ts'
import { newSecretText } from '../../server/src/domain/access/secret-text.ts'
import {
  type Compose,
  composeFiles,
  dockerfileLines,
  imageEnvironment,
  readText,
  readYaml,
  repository,
} from './files.ts'

const ofServer = (Object.keys(settings) as SettingName[]).map(envName)
const ofAgent = agentCommand().options.flatMap(({ envVar }) => envVar ?? [])
const known = new Set([
  ...ofServer,
  ...ofAgent,
  'JOBCAST_ADMIN_KEY',
  'JOBCAST_ADMIN_KEY_FILE',
  'JOBCAST_CONFIG',
  'JOBCAST_DEVICE_TOKEN',
])
/** In files for CI, which call the command line; deploy/test/gitlab-template.test.ts compares those of a trigger with the guide. */
const knownInCi = /^JOBCAST_(?:URL|API_KEY|ID_TOKEN|ID_TOKEN_AUDIENCE|TRIGGER_[A-Z_]+)$/
const isForCi = (file: string) => /^deploy\/git(?:hub-action|lab)\//.test(file)

const all = globSync('deploy/**/*', { cwd: repository, withFileTypes: true })
  .filter((entry) => entry.isFile() && !entry.parentPath.endsWith('/test'))
  .map((entry) => `${entry.parentPath.slice(repository.length)}/${entry.name}`)
const files = [...new Set([...all, 'deploy/.env.example'])].sort()

test('every JOBCAST_… of deploy/ is a setting', () => {
  assert.ok(files.length > 10)
  const unknown = files.flatMap((file) =>
    [...readText(file).matchAll(/\bJOBCAST_[A-Z_]*[A-Z]\b/g)]
      .filter(([name]) => !known.has(name) && !(isForCi(file) && knownInCi.test(name)))
      .map(([name]) => `${file}: ${name}`),
  )
  assert.deepEqual(unknown, [])
})

test('no file of deploy/ holds a key, a token or a password', () => {
  const given = files.filter((file) =>
    /\b(jc|jcd|jce)_[A-Za-z0-9]{20,}|POSTGRES_PASSWORD=\S/.test(readText(file)),
  )
  assert.deepEqual(given, [])
})

test('what the compose files ask the reader for is in .env.example', () => {
  const example = readText('deploy/.env.example')
  for (const file of composeFiles) {
    for (const [, name = ''] of readText(file).matchAll(/\$\{([A-Z_]+)/g)) {
      assert.match(example, new RegExp(`^${name}=`, 'm'), `${file}: ${name}`)
    }
  }
})

const image = imageEnvironment()
const exposed = dockerfileLines().find((line) => line.startsWith('EXPOSE '))
const asked: Record<string, string> = {
  JOBCAST_ADMIN_KEY: newSecretText('jc').text,
  POSTGRES_PASSWORD: 'abc123',
}

/** As compose fills it in. */
function filledIn(text: string): string {
  return text.replace(/\$\{([A-Z_]+)[^}]*\}/g, (_, name: string) => asked[name] ?? '')
}

test('the image wants certificates, or clear text to be allowed', () => {
  assert.throws(() => loadConfig({}, image), /clear text/)
})

describe('a node starts with what it is given', () => {
  const starts = (environment: Record<string, string>, isOnPostgres: boolean) => {
    const filled = Object.entries(environment).map(([name, value]) => [name, filledIn(value)])
    const config = loadConfig({}, { ...image, ...Object.fromEntries(filled) })
    assert.equal(exposed, `EXPOSE ${config.port} ${config.mqttPort}`)
    assert.equal(config.host, '0.0.0.0')
    assert.equal(config.databaseUrl !== undefined, isOnPostgres)
    return config
  }

  for (const file of composeFiles) {
    for (const [name, service] of Object.entries(readYaml<Compose>(file).services)) {
      if (service.image !== 'jobcast') continue
      test(`${file}: ${name}`, () => {
        starts(service.environment ?? {}, file.includes('three-nodes'))
        for (const port of service.ports ?? []) assert.match(filledIn(port), /^:(8080:8080|1883:1883)$/)
      })
    }
  }

  test('deploy/kubernetes/deployment.yaml', () => {
    type Variable = { name: string; value?: string; valueFrom?: { secretKeyRef: { key: string } } }
    type Container = { env: Variable[]; ports: { name: string; containerPort: number }[] }
    const deployment = readYaml<{ spec: { template: { spec: { containers: [Container] } } } }>(
      'deploy/kubernetes/deployment.yaml',
    )
    const [{ env, ports }] = deployment.spec.template.spec.containers
    const secrets: Record<string, string> = {
      ...asked,
      DATABASE_URL: 'postgres://u:p@db.example:5432/jobcast',
    }
    const values = env.map(({ name, value, valueFrom }) => [
      name,
      value ?? secrets[valueFrom?.secretKeyRef.key ?? ''] ?? '',
    ])
    const { port, mqttPort, metrics } = starts(Object.fromEntries(values), true)
    assert.deepEqual(ports, [
      { name: 'http', containerPort: port },
      { name: 'mqtt', containerPort: mqttPort },
      { name: 'metrics', containerPort: metrics.port },
    ])
  })

  test('deploy/jobcast.service', () => {
    const unit = readText('deploy/jobcast.service')
    const [, line = ''] = /^Environment=(.*)$/m.exec(unit) ?? []
    const { dataFolder } = loadConfig({}, Object.fromEntries(line.split(' ').map((word) => word.split('='))))
    assert.equal(dataFolder, '/var/lib/jobcast')
    assert.match(unit, /^StateDirectory=jobcast$/m)
  })
})

test('the balancer knows the nodes of the compose file, and their ports', () => {
  const { services } = readYaml<Compose>('deploy/compose.three-nodes.yaml')
  const nodes = Object.keys(services).filter((name) => services[name]?.image === 'jobcast')
  const lines = [...readText('deploy/haproxy.cfg').matchAll(/^\s+server (\S+) (\S+):(\d+)/gm)]
  for (const port of [settings.port.default, settings['mqtt-port'].default]) {
    const named = lines.filter(([, , , at]) => at === String(port)).map(([, name, host]) => `${name} ${host}`)
    assert.deepEqual(
      [...new Set(named)],
      nodes.map((node) => `${node} ${node}`),
    )
    assert.ok(services.balancer?.ports?.some((each) => each.endsWith(`:${port}:${port}`)))
  }
  const maxConnections = Number(/maxconn (\d+)/.exec(readText('deploy/haproxy.cfg'))?.[1])
  assert.ok((services.balancer?.ulimits?.nofile.soft ?? 0) > 2 * maxConnections + 100)
})

describe('the units start what there is', () => {
  test('deploy/jobcast.service', () => {
    const [, program, ...words] =
      /^ExecStart=\/usr\/bin\/env node (\S+) (.*)$/m.exec(readText('deploy/jobcast.service')) ?? []
    assert.ok(existsSync(`${repository}/${program?.replace('/opt/jobcast/', '')}`))
    assert.deepEqual(words, ['serve'])
  })

  test('deploy/jobcast-agent.service', () => {
    const [, line = ''] = /^ExecStart=\S+ (.*)$/m.exec(readText('deploy/jobcast-agent.service')) ?? []
    const flags = line.split(' ').filter((word) => word.startsWith('--'))
    assert.ok(flags.length > 0)
    const taken = agentCommand().options.map(({ long }) => long)
    assert.deepEqual(
      flags.filter((flag) => !taken.includes(flag)),
      [],
    )
  })
})

describe('the units leave little open', () => {
  const isThere = spawnSync('systemd-analyze', ['--version']).status === 0
  for (const unit of ['jobcast', 'jobcast-agent']) {
    test(`deploy/${unit}.service`, {
      skip: isThere ? false : 'systemd-analyze is not on this machine',
    }, () => {
      const flags = ['security', '--offline=yes', '--no-pager', '--threshold=30']
      const { status, stdout } = spawnSync(
        'systemd-analyze',
        [...flags, `${repository}/deploy/${unit}.service`],
        {
          encoding: 'utf8',
        },
      )
      assert.equal(status, 0, stdout)
    })
  }
})
