// What the compose files and the manifests promise of the containers they start.

import assert from 'node:assert/strict'
import { existsSync, globSync } from 'node:fs'
import { describe, test } from 'node:test'
import { openServer } from '@jobcast/testkit/open-server'
import { type Compose, composeFiles, readText, readYaml, repository, yamlProblems } from './files.ts'

test('every YAML file can be read', () => {
  const found = globSync('deploy/**/*.yaml', { cwd: repository })
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
