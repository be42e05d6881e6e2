// Builds the parts (build-parts.ts) from the settings, with the disks, issuers and trace exporters that they need.

import { buildParts, type Parts } from '../build-parts.ts'
import type { Config } from '../config/config.ts'
import { reasonOf } from '../domain/access/issuer-errors.ts'
import type { AuditSigner } from '../domain/audit/ports/signer.ts'
import type { WallInstant } from '../domain/common/instants.ts'
import { StorageUnavailable } from '../domain/common/ports/storage-errors.ts'
import { keyOf } from '../domain/device/ports/device-link.ts'
import type { Moment } from '../domain/execution/execution.ts'
import { ddiSilenceMs } from '../gateway/http/ddi/poll-times.ts'
import { connectIssuer } from '../oidc/connect-issuer.ts'
import { ensureSecretsKeys } from '../secrets/secrets-key.ts'
import type { ExportSpan } from '../state/run-traces.ts'
import { SecretBox } from '../state/secret-box.ts'
import type { SteadyClock } from '../state/steady-clock.ts'
import { openContents } from './open-contents.ts'
import type { Storage } from './open-storage.ts'
import type { OwnAddress } from './own-address.ts'
import type { Start } from './start.ts'
import type { Disks } from './watch-disks.ts'

type PartsNeeds = {
  storage: Storage
  disks: Disks
  signer: AuditSigner | undefined
  isAllowedAddress: (address: string) => boolean
  address: OwnAddress
}

export async function openParts(start: Start, needs: PartsNeeds): Promise<Parts> {
  const { config, tell, metrics, elapsed, stopping } = start
  const { storage, disks, signer, isAllowedAddress, address } = needs
  const { store, now, steady, joined } = storage
  return buildParts({
    ...{ store, signer, tell, metrics, now, elapsed, isAllowedAddress },
    secretBox: new SecretBox(await ensureSecretsKeys(store, config)),
    moment: momentsOf(now, steady, config),
    stopping: stopping.signal,
    maxOutputBytes: config.maxOutputBytes,
    rates: config.rates,
    sessionIdleMs: config.sessionIdleSeconds * 1000,
    quotas: config.quotas,
    maxFileBytes: config.maxFileBytes,
    maxDownloads: config.maxDownloads,
    fileBase: address.base,
    ...(await openContents(start, storage, disks.filesDisk)),
    disk: disks.disk,
    ...(await connectIssuer(config, now, (error) =>
      tell({ kind: 'issuer-failed', reason: reasonOf(error) }),
    )),
    isRemote: joined !== undefined,
    exportSpan: await openTraces(start),
    ddiSilenceMs: ddiSilenceMs(config.ddiPollSeconds),
    bridgeSilenceMs: longestSilenceMs(config),
    ...(joined && { nodeNo: joined.nodeNo }),
    onOpened: (device, since) =>
      joined?.nodes.send({ kind: 'connected', device: keyOf(device), since, nodeNo: joined.nodeNo }),
  })
}

/**
 * Records devices that an earlier process left online as offline. In a cluster, nodes clean up after dead nodes instead. On
 * a full disk the service still starts and answers reads; presence is recorded as soon as possible.
 */
export async function startOffline({ presence, tell }: Parts, { joined }: Storage): Promise<void> {
  if (joined) return
  presence.startOffline()
  try {
    await presence.settle()
  } catch (error) {
    if (!(error instanceof StorageUnavailable)) throw error
    tell({ kind: 'storage-unavailable', error })
  }
}

/** Two clocks: the wall clock may be set at any time, the steady one never jumps. */
function momentsOf(now: () => WallInstant, steady: SteadyClock, config: Config): () => Moment {
  const cancelDeadlineMs = config.cancelDeadlineSeconds * 1000
  return () => ({
    at: now(),
    clock: steady.now(),
    chance: Math.random(),
    cancelDeadlineMs,
  })
}

/** The exporter is imported only if traces are exported. */
async function openTraces({ config, version, tell, takeDown }: Start): Promise<ExportSpan | undefined> {
  const { otlp } = config
  if (otlp === undefined) return undefined
  const { OtlpExporter } = await import('../observe/otlp-exporter.ts')
  const exporter = new OtlpExporter({ ...otlp, version, tell })
  takeDown.add(() => exporter.stop())
  return exporter.add
}

/** Undefined without bridges. */
function longestSilenceMs({ bridges }: Config): number | undefined {
  return bridges.length === 0 ? undefined : Math.max(...bridges.map(({ silenceMs }) => silenceMs))
}
