// What the compose files and the manifests promise of the containers they start.

import assert from 'node:assert/strict'
import { existsSync, globSync } from 'node:fs'
import { describe, test } from 'node:test'
import { openServer } from '@jobcast/testkit/open-server'
import { parse, parseDocument } from 'yaml'
import { loadConfig } from '../../server/src/config.ts'
import { type Compose, composeFiles, readText, readYaml, repository, yamlProblems } from './files.ts'

test('every YAML file can be read', () => {
  const found = globSync('deploy/**/*.yaml', { cwd: repository }).filter(
    (file) => !file.includes('/templates/'),
  )
  assert.ok(found.length >= 9)
  for (const file of found) assert.deepEqual(yamlProblems(file), [], file)
})

describe('a container gets no more than it needs', () => {
  for (const file of composeFiles) {
    const { services, volumes } = readYaml<Compose>(file)
    for (const [name, service] of Object.entries(services)) {
      test(`${file}: ${name}`, () => {
        assert.equal(service.read_only, true)
        assert.deepEqual(service.cap_drop, ['ALL'])
        assert.deepEqual(service.security_opt, ['no-new-privileges:true'])
        assert.equal(service.restart, 'unless-stopped')
        assert.ok(service.deploy?.resources.limits.memory && service.deploy.resources.limits.pids)
        // Only to this machine, unless the reader says otherwise.
        for (const port of service.ports ?? []) assert.match(port, /^\$\{PUBLISH_ADDRESS:-127\.0\.0\.1\}:/)
        assert.match(service.image, /^jobcast$|:\d/, 'another image has a tag')
        for (const volume of service.volumes ?? []) {
          const [from = ''] = volume.split(':')
          assert.ok(
            from.startsWith('./') ? existsSync(`${repository}/deploy/${from}`) : from in volumes,
            from,
          )
        }
        if (service.image !== 'jobcast') return
        assert.equal(service.stop_grace_period, '30s')
        assert.ok((service.ulimits?.nofile.soft ?? 0) >= 65_536)
        if (service.build) assert.ok(existsSync(`${repository}/${service.build.dockerfile}`))
      })
    }
  }
})

test('nodes trust the load balancer in front of them, by the addresses that it has', () => {
  type Attached = { networks?: Record<string, { ipv4_address: string }> }
  const { services } = readYaml<Compose>('deploy/compose.three-nodes.yaml')
  const { networks = {} } = services.balancer as Attached
  const addresses = Object.values(networks).map(({ ipv4_address }) => ipv4_address)
  assert.equal(addresses.length, 2)
  for (const name of ['node1', 'node2', 'node3'] as const) {
    assert.equal(services[name]?.environment?.JOBCAST_TRUSTED_PROXIES, addresses.join(','))
  }
  assert.match(readText('deploy/haproxy.cfg'), /^\s+option forwardfor$/m)
})

type Selector = { matchLabels: Record<string, string> }
type Probe = { httpGet: { path: string; port: string } }
type Deployment = {
  metadata: { labels: Record<string, string> }
  spec: {
    replicas: number
    selector: Selector
    template: {
      metadata: { labels: Record<string, string> }
      spec: {
        terminationGracePeriodSeconds: number
        securityContext: Record<string, unknown>
        topologySpreadConstraints: { labelSelector: Selector }[]
        containers: [
          {
            startupProbe: Probe
            livenessProbe: Probe
            readinessProbe: Probe
            lifecycle: { preStop: { sleep: { seconds: number } } }
            ports: { name: string; containerPort: number }[]
            env: { name: string; value?: string }[]
            securityContext: Record<string, unknown>
            volumeMounts: { name: string; mountPath: string }[]
          },
        ]
        volumes: { name: string }[]
      }
    }
  }
}

describe('deploy/kubernetes', () => {
  const deployment = readYaml<Deployment>('deploy/kubernetes/deployment.yaml')
  const { spec: pod, metadata } = deployment.spec.template
  const [container] = pod.containers

  test('every file is a resource, or is named as one that may be', () => {
    const text = readText('deploy/kubernetes/kustomization.yaml')
    for (const file of globSync('*.yaml', { cwd: `${repository}/deploy/kubernetes` })) {
      if (file !== 'kustomization.yaml') assert.match(text, new RegExp(`- ${file}$`, 'm'))
    }
    for (const file of readYaml<{ resources: string[] }>('deploy/kubernetes/kustomization.yaml').resources) {
      assert.ok(existsSync(`${repository}/deploy/kubernetes/${file}`), file)
    }
  })

  test('every selector finds the nodes', () => {
    type Selecting = { spec: { selector?: Selector & Record<string, string>; podSelector?: Selector } }
    const other = (name: string) => readYaml<Selecting>(`deploy/kubernetes/${name}.yaml`).spec
    const selectors = [
      deployment.spec.selector.matchLabels,
      ...pod.topologySpreadConstraints.map(({ labelSelector }) => labelSelector.matchLabels),
      other('service').selector,
      other('disruption-budget').selector?.matchLabels,
      other('network-policy').podSelector?.matchLabels,
    ]
    for (const labels of selectors) assert.deepEqual(labels, metadata.labels)
    // The monitor finds the service, not the nodes.
    const { metadata: service } = readYaml<Deployment>('deploy/kubernetes/service.yaml')
    assert.deepEqual(other('service-monitor').selector?.matchLabels, service.labels)
  })

  test('ports lead to ports', () => {
    const names = container.ports.map(({ name }) => name)
    const { spec: service } = readYaml<{ spec: { ports: { port: number; targetPort: string }[] } }>(
      'deploy/kubernetes/service.yaml',
    )
    assert.deepEqual(
      service.ports.map(({ targetPort }) => targetPort),
      names,
    )
    type Policy = { spec: { ingress: [{ ports: { port: number }[] }] } }
    const { spec: policy } = readYaml<Policy>('deploy/kubernetes/network-policy.yaml')
    assert.deepEqual(
      policy.ingress[0].ports.map(({ port }) => port),
      container.ports.map(({ containerPort }) => containerPort),
    )
  })

  test('nodes reach databases, poolers and a collector of traces, with both', () => {
    type Policy = { spec: { egress: { to?: object; ports: { port: number }[] }[] } }
    const { egress } = readYaml<Policy>('deploy/kubernetes/network-policy.yaml').spec
    const anywhere = egress.find(({ to }) => to === undefined)?.ports.map(({ port }) => port)
    type Values = { databasePorts: number[]; otlpPorts: number[]; trustedProxies: string }
    const { databasePorts, otlpPorts, trustedProxies } = readYaml<Values>('deploy/helm/jobcast/values.yaml')
    assert.deepEqual(anywhere, [...databasePorts, ...otlpPorts])
    assert.ok(databasePorts.includes(5432) && databasePorts.includes(6432) && otlpPorts.includes(4318))
    const template = readText('deploy/helm/jobcast/templates/deployment.yaml')
    assert.match(template, /JOBCAST_TRUSTED_PROXIES\n\s+value: \{\{ \.Values\.trustedProxies/)
    const { trustedProxies: used } = loadConfig({}, { JOBCAST_TRUSTED_PROXIES: trustedProxies })
    assert.deepEqual(used, [trustedProxies])
    const { env } = container
    assert.equal(env.find(({ name }) => name === 'JOBCAST_TRUSTED_PROXIES')?.value, trustedProxies)
  })

  test('the probes ask for what a server answers', async (t) => {
    const { server } = await openServer(t)
    for (const { httpGet } of [container.startupProbe, container.livenessProbe, container.readinessProbe]) {
      assert.equal(httpGet.port, 'http')
      assert.equal((await fetch(server.http + httpGet.path)).status, 200)
    }
    // A node that cannot reach its database is not cured by a restart.
    assert.equal(container.livenessProbe.httpGet.path, '/livez')
    assert.equal(container.readinessProbe.httpGet.path, '/readyz')
  })

  test('a node has the time that it may take to stop', () => {
    const { seconds } = container.lifecycle.preStop.sleep
    assert.ok(pod.terminationGracePeriodSeconds >= seconds + 15)
  })

  test('it is nobody, and can write to its volumes only', () => {
    assert.equal(pod.securityContext.runAsNonRoot, true)
    assert.equal(pod.securityContext.runAsUser, 10_001)
    assert.deepEqual(pod.securityContext.seccompProfile, { type: 'RuntimeDefault' })
    assert.deepEqual(container.securityContext, {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    })
    assert.deepEqual(
      container.volumeMounts.map(({ name }) => name),
      pod.volumes.map(({ name }) => name),
    )
  })
})

describe('deploy/helm', () => {
  type Values = Record<string, unknown> & { resources: object }
  const values = readYaml<Values>('deploy/helm/jobcast/values.yaml')

  /** What Helm would make of it with every condition true, as far as it matters here: Helm itself is not on this machine. */
  function rendered<T>(name: string): T {
    const lines = readText(`deploy/helm/jobcast/templates/${name}.yaml`)
      .split('\n')
      .filter((line) => !/^\s*\{\{- (if|else|end|range)\b.*\}\}$/.test(line))
      .map((line) => line.replace(/\{\{- toYaml .*\}\}/, 'limits: {}').replace(/\{\{ [^}]*\}\}/g, 'x'))
    const problems = parseDocument(lines.join('\n')).errors
    assert.deepEqual(problems, [], name)
    return parse(lines.join('\n')) as T
  }

  test('it has what the manifests have', () => {
    const plain = readYaml<Deployment>('deploy/kubernetes/deployment.yaml').spec.template.spec
    const chart = rendered<Deployment>('deployment').spec.template.spec
    assert.deepEqual(chart.securityContext, plain.securityContext)
    assert.equal(chart.terminationGracePeriodSeconds, plain.terminationGracePeriodSeconds)
    assert.deepEqual(chart.containers[0].securityContext, plain.containers[0].securityContext)
    assert.deepEqual(chart.containers[0].lifecycle, plain.containers[0].lifecycle)
    assert.deepEqual(chart.containers[0].ports, plain.containers[0].ports)
    for (const name of ['service', 'disruption-budget', 'network-policy', 'service-monitor'])
      assert.equal(
        rendered<{ kind: string }>(name).kind,
        readYaml<{ kind: string }>(`deploy/kubernetes/${name}.yaml`).kind,
      )
  })

  test('every value that a template uses is in values.yaml', () => {
    const templates = globSync('deploy/helm/jobcast/templates/*.yaml', { cwd: repository })
    assert.equal(templates.length, 5)
    for (const file of templates) {
      for (const [, path = ''] of readText(file).matchAll(/\.Values\.([\w.]+)/g)) {
        const found = path.split('.').reduce<unknown>((at, name) => (at as Values)?.[name], values)
        assert.notEqual(found, undefined, `${file}: ${path}`)
      }
      const open = readText(file).match(/\{\{- (if|range)\b/g)?.length ?? 0
      assert.equal(readText(file).match(/\{\{- end \}\}/g)?.length ?? 0, open, file)
    }
  })
})
