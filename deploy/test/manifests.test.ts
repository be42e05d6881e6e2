// Properties of the containers in the compose files and the manifests.

import assert from 'node:assert/strict'
import { existsSync, globSync } from 'node:fs'
import { describe, test } from 'node:test'
import { openServer } from '@jobcast/testkit/open-server'
import { loadConfig } from '../../server/src/config/config.ts'
import { type Compose, composeFiles, readText, readYaml, repository, yamlProblems } from './files.ts'
import { ChartRefused, renderChart } from './render-chart.ts'

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

/** What the container has where JOBCAST_AUDIT_KEY says. */
function assertAuditKey(
  { env, volumeMounts }: Pick<Container, 'env' | 'volumeMounts'>,
  volumes: Deployment['spec']['template']['spec']['volumes'],
): void {
  const path = env.find(({ name }) => name === 'JOBCAST_AUDIT_KEY')?.value ?? ''
  const mount = volumeMounts.find(({ mountPath }) => path === `${mountPath}/audit-key.pem`)
  const volume = volumes.find(({ name }) => name === mount?.name)
  assert.equal(volume?.secret?.secretName, 'jobcast')
  const { items } = volume.secret
  if (items) assert.deepEqual(items, [{ key: 'audit-key.pem', path: 'audit-key.pem' }])
}

test('several nodes get the same key of the audit', () => {
  type WithSecrets = Compose & { secrets: Record<string, { file: string }> }
  const { services, secrets } = readYaml<WithSecrets>('deploy/compose.three-nodes.yaml')
  for (const name of ['node1', 'node2', 'node3']) {
    const node = services[name] as Compose['services'][string] & { secrets: string[] }
    assert.deepEqual(node.secrets, ['audit-key'])
    assert.equal(node.environment?.JOBCAST_AUDIT_KEY, '/run/secrets/audit-key')
  }
  assert.deepEqual(secrets, { 'audit-key': { file: './audit-key.pem' } })
  const plain = readYaml<Deployment>('deploy/kubernetes/deployment.yaml').spec.template.spec
  assertAuditKey(plain.containers[0], plain.volumes)
  assert.match(readText('deploy/kubernetes/kustomization.yaml'), /--from-file=audit-key\.pem/)
})

type Selector = { matchLabels: Record<string, string> }
type Probe = { httpGet: { path: string; port: string } }
type Container = {
  startupProbe: Probe
  livenessProbe: Probe
  readinessProbe: Probe
  lifecycle: { preStop: { sleep: { seconds: number } } }
  ports: { name: string; containerPort: number }[]
  env: { name: string; value?: string }[]
  securityContext: Record<string, unknown>
  volumeMounts: { name: string; mountPath: string }[]
}
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
        containers: [Container]
        volumes: { name: string; secret?: { secretName: string; items?: { key: string; path: string }[] } }[]
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
    // A restart does not help a node that cannot reach its database.
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
  type Values = Record<string, unknown>
  type Metadata = { name: string; annotations?: object; labels: Record<string, string> }
  const values = readYaml<Values>('deploy/helm/jobcast/values.yaml')
  const chart = 'deploy/helm/jobcast/templates'

  function rendered<T>(name: string, more: Values = {}): T {
    const context = { Values: { ...values, ...more }, Release: { Name: 'fleet' } }
    return renderChart(readText(`${chart}/${name}.yaml`), context) as T
  }

  test('it has what the manifests have', () => {
    const plain = readYaml<Deployment>('deploy/kubernetes/deployment.yaml').spec.template.spec
    const pod = rendered<Deployment>('deployment').spec.template.spec
    assert.deepEqual(pod.securityContext, plain.securityContext)
    assert.equal(pod.terminationGracePeriodSeconds, plain.terminationGracePeriodSeconds)
    assert.deepEqual(pod.containers[0].securityContext, plain.containers[0].securityContext)
    assert.deepEqual(pod.containers[0].lifecycle, plain.containers[0].lifecycle)
    assert.deepEqual(pod.containers[0].ports, plain.containers[0].ports)
    for (const name of ['service', 'disruption-budget', 'network-policy', 'service-monitor'])
      assert.equal(
        rendered<{ kind: string }>(name, { serviceMonitor: true }).kind,
        readYaml<{ kind: string }>(`deploy/kubernetes/${name}.yaml`).kind,
      )
  })

  test('the key of the audit is in its secret, unless the values say that it is not', () => {
    const podOf = (more: Values) => rendered<Deployment>('deployment', more).spec.template.spec
    const pod = podOf({})
    assertAuditKey(pod.containers[0], pod.volumes)
    const { env } = podOf({ auditKey: false }).containers[0]
    assert.equal(
      env.some(({ name }) => name === 'JOBCAST_AUDIT_KEY'),
      false,
    )
  })

  test('every template can be rendered, and what is optional is left out by default', () => {
    const files = globSync('*.yaml', { cwd: `${repository}/${chart}` }).map((file) =>
      file.replace('.yaml', ''),
    )
    const made = files.filter((name) => rendered(name) !== undefined)
    assert.deepEqual(files.filter((name) => !made.includes(name)).sort(), ['ingress', 'service-monitor'])
    const { spec, metadata } = rendered<Deployment & { metadata: Metadata }>('deployment')
    assert.equal(metadata.annotations, undefined)
    for (const name of ['imagePullSecrets', 'tolerations', 'nodeSelector', 'affinity'])
      assert.equal(Object.hasOwn(spec.template.spec, name), false, name)
    assert.equal(Object.hasOwn(spec.template.spec.containers[0], 'envFrom'), false)
  })

  test('pods get what a cluster asks for', () => {
    const given = {
      imagePullSecrets: [{ name: 'registry' }],
      tolerations: [{ key: 'iot', operator: 'Exists' }],
      nodeSelector: { disk: 'ssd' },
      affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [] } },
    }
    const deployment = rendered<{ metadata: Metadata; spec: Deployment['spec'] }>('deployment', {
      ...given,
      envFrom: [{ secretRef: { name: 'more' } }],
      env: { JOBCAST_LOG_LEVEL: 'debug' },
      podAnnotations: { 'example.com/team': 'fleet' },
      podLabels: { team: 'fleet' },
      deploymentAnnotations: { 'example.com/reload': 'true' },
    })
    const { spec: pod, metadata } = deployment.spec.template
    const { imagePullSecrets, tolerations, nodeSelector, affinity } = pod as unknown as typeof given
    assert.deepEqual({ imagePullSecrets, tolerations, nodeSelector, affinity }, given)
    const { env, envFrom } = pod.containers[0] as unknown as { env: { name: string }[]; envFrom: object[] }
    assert.deepEqual(envFrom, [{ secretRef: { name: 'more' } }])
    assert.ok(env.some(({ name }) => name === 'JOBCAST_LOG_LEVEL'))
    assert.deepEqual((metadata as Metadata).annotations, { 'example.com/team': 'fleet' })
    assert.deepEqual(metadata.labels, {
      'app.kubernetes.io/name': 'jobcast',
      'app.kubernetes.io/instance': 'fleet',
      team: 'fleet',
    })
    // A selector cannot be changed later, so it does not have them.
    assert.equal(Object.hasOwn(deployment.spec.selector.matchLabels, 'team'), false)
    assert.deepEqual(deployment.metadata.annotations, { 'example.com/reload': 'true' })
    const service = { type: 'LoadBalancer', annotations: { internal: 'true' } }
    const made = rendered<{ metadata: Metadata; spec: { type: string } }>('service', { service })
    assert.deepEqual([made.spec.type, made.metadata.annotations], ['LoadBalancer', { internal: 'true' }])
  })

  test('pods run under the service account that is made, or under one that is named', () => {
    const accountOf = (serviceAccount: object) => {
      const { spec } = rendered<Deployment>('deployment', { serviceAccount }).spec.template
      const made = rendered<{ metadata: Metadata } | undefined>('service-account', { serviceAccount })
      return [(spec as { serviceAccountName?: string }).serviceAccountName, made?.metadata.name]
    }
    assert.deepEqual(accountOf({ create: true, name: '', annotations: {} }), ['fleet', 'fleet'])
    assert.deepEqual(accountOf({ create: true, name: 'own', annotations: { a: 'b' } }), ['own', 'own'])
    assert.deepEqual(accountOf({ create: false, name: 'theirs', annotations: {} }), ['theirs', undefined])
    assert.deepEqual(accountOf({ create: false, name: '', annotations: {} }), [undefined, undefined])
  })

  test('the ingress leads to the port http of the service, and needs a host', () => {
    type Backend = { service: { name: string; port: { name: string } } }
    type Ingress = {
      metadata: Metadata
      spec: {
        ingressClassName: string
        tls: object[]
        rules: { host: string; http: { paths: [{ path: string; backend: Backend }] } }[]
      }
    }
    const ingress = {
      enabled: true,
      className: 'nginx',
      annotations: { 'nginx.ingress.kubernetes.io/proxy-read-timeout': '120' },
      hosts: ['jobs.example.com', '*.jobs.example.com'],
      tls: [{ secretName: 'jobs-tls', hosts: ['jobs.example.com'] }],
    }
    const { metadata, spec } = rendered<Ingress>('ingress', { ingress })
    assert.deepEqual(metadata.annotations, ingress.annotations)
    assert.deepEqual([spec.ingressClassName, spec.tls], ['nginx', ingress.tls])
    assert.deepEqual(
      spec.rules.map(({ host }) => host),
      ingress.hosts,
    )
    const service = rendered<{ metadata: Metadata; spec: { ports: { name: string }[] } }>('service')
    for (const { http } of spec.rules) {
      const { name, port } = http.paths[0].backend.service
      assert.equal(name, service.metadata.name)
      assert.ok(service.spec.ports.some((each) => each.name === port.name))
    }
    assert.throws(() => rendered('ingress', { ingress: { ...ingress, hosts: [] } }), ChartRefused)
  })

  test('every value that a template uses is in values.yaml, and every value is used', () => {
    const templates = globSync(`${chart}/*.yaml`, { cwd: repository })
    assert.equal(templates.length, 7)
    const used = new Set<string>()
    for (const file of templates) {
      for (const [, path = ''] of readText(file).matchAll(/\.Values\.([\w.]+)/g)) {
        const found = path.split('.').reduce<unknown>((at, name) => (at as Values)?.[name], values)
        assert.notEqual(found, undefined, `${file}: ${path}`)
        used.add(path.split('.')[0] ?? '')
      }
    }
    assert.deepEqual([...used].sort(), Object.keys(values).sort())
  })
})
