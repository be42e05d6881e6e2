// Internal events of the service. log-lines.ts logs them, metrics.ts counts them.

import type { LimitName } from '@jobcast/contract'
import type { QuotaName } from '../domain/access/quotas.ts'
import type { AccessChanged } from '../domain/access/tell-access.ts'
import type { ExecutionNote } from '../state/execution-notes.ts'

export type WriteKind = 'triggers' | 'devices' | 'attributes' | 'reports'

/** Not its URL, which may contain a secret. */
type WebhookName = { webhookName: string; ownerNo: number }

/** Too many were waiting; the collector did not respond for minutes; it refused them; the service is stopping. */
type SpansDropped = 'queue-full' | 'retries-exhausted' | 'refused' | 'stopped'

export type ServiceEvent =
  | {
      kind: 'request-answered'
      requestId: string
      method: string
      /** The pattern of the route, not the requested path, which is unbounded. */
      route: string
      status: number
      ms: number
      keyId: string | undefined
      ownerId: string | undefined
      /** The run that the call has created. */
      runId: number | undefined
      /** The id in a key that was refused. */
      triedKeyId: string | undefined
      code: string | undefined
      /** The address of the client, if necessary from the headers of trusted proxies. */
      address: string
      userAgent: string | undefined
    }
  /** Refused before it became a request: malformed, too large, or too slow. */
  | { kind: 'connection-refused'; code: string; address: string | undefined }
  | { kind: 'rate-limited'; limit: LimitName }
  /** Incomplete bodies exceed a limit. */
  | { kind: 'body-refused'; quota: QuotaName }
  | { kind: 'request-failed'; requestId: string; route: string; error: unknown }
  | { kind: 'group-committed'; of: WriteKind; items: number; ms: number }
  | { kind: 'group-failed'; of: WriteKind; items: number }
  | { kind: 'executions-created'; count: number }
  | ExecutionNote
  | { kind: 'storage-unavailable'; error: unknown }
  | { kind: 'storage-lost'; error: unknown }
  /** The free space has passed a mark, up or down. */
  | {
      kind: 'disk-space-changed'
      refused: 'nothing' | 'progress' | 'triggers'
      freeBytes: number
      markBytes: number
    }
  | { kind: 'other-history' }
  /** The folder belongs to another installation. */
  | { kind: 'foreign-files-folder'; folder: string }
  | { kind: 'foreign-files-bucket'; bucket: string }
  /** At the start. */
  | { kind: 'bucket-unavailable'; text: string }
  /** Entries of the audit differ from the sealed ones. */
  | { kind: 'audit-damaged'; ownerId: string; auditId: number | null; because: string }
  | { kind: 'audit-unsealed' }
  | { kind: 'audit-key-created'; file: string; keyId: string }
  | { kind: 'background-failed'; task: string; error: unknown }
  /** People cannot sign in, or one sign-in was refused. */
  | { kind: 'issuer-failed'; reason: string }
  /** A token was not exchanged for access. */
  | { kind: 'exchange-refused'; reason: string }
  /** A setting names an owner that does not exist. */
  | { kind: 'unknown-owner'; setting: string; owner: string }
  | { kind: 'dispatch-failed'; error: unknown }
  | { kind: 'spans-sent'; count: number }
  /** Once for each batch, which is retried. */
  | { kind: 'span-export-failed'; error: unknown; waiting: number }
  | { kind: 'spans-dropped'; count: number; reason: SpansDropped; error?: unknown }
  | ({
      kind: 'webhook-attempted'
      eventId: number
      /** Null if there was no response. */
      status: number | null
      /** Null if it was accepted. */
      error: string | null
      ms: number
    } & WebhookName)
  /** Once, when its receiver has failed repeatedly. */
  | ({ kind: 'webhook-failing'; status: number | null; error: string | null } & WebhookName)
  | ({ kind: 'webhook-recovered' } & WebhookName)
  | ({ kind: 'webhook-paused'; because: string } & WebhookName)
  /** Purged before they were sent. */
  | ({ kind: 'webhook-events-purged'; upTo: number } & WebhookName)
  | { kind: 'webhooks-failed'; error: unknown }
  | { kind: 'device-connected'; transport: string; deviceId: string }
  | { kind: 'device-disconnected'; transport: string; deviceId: string; reason: string }
  /** A device was refused before it was signed in. `deviceId` is the claimed one, unless it may contain a secret. */
  | {
      kind: 'device-refused'
      transport: string
      address: string
      reason: string
      deviceId: string | undefined
    }
  | { kind: 'device-sign-in-failed'; transport: string; error: unknown }
  | { kind: 'device-request-failed'; deviceId: string; error: unknown }
  | { kind: 'device-connection-failed'; transport: string; error: unknown }
  /** Connected to a broker of the user. */
  | { kind: 'bridge-connected'; bridgeName: string }
  /** Once for each reason; it is retried. */
  | { kind: 'bridge-failed'; bridgeName: string; error: string }
  | { kind: 'tls-handshake-failed'; error: unknown }
  | { kind: 'device-accept-failed'; error: unknown }
  /** The file of revocation lists has changed. */
  | { kind: 'device-crl-read'; revoked: number }
  /** Certificate and key of the service, after a signal. */
  | { kind: 'certificate-read'; validTo: string }
  | { kind: 'certificate-failed'; error: unknown }
  | { kind: 'device-crl-failed'; error: unknown }
  | { kind: 'started'; http: string; mqtt: string; metrics: string | undefined; data: string; ms: number }
  | { kind: 'metrics-listener-failed'; error: unknown }
  | { kind: 'plaintext'; host: string }
  | { kind: 'admin-key-unused' }
  | AccessChanged
  | { kind: 'stopping'; signal: string }

export type Tell = (event: ServiceEvent) => void
