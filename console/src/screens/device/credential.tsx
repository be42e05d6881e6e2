// The device's token. Creating a new one and revoking it both disconnect the device.

import type { Device } from '@jobcast/client'
import { useState } from 'preact/hooks'
import { jobcast } from '../../api/client.ts'
import { refreshKeys } from '../../api/refresh-keys.ts'
import { useAction } from '../../api/use-action.ts'
import { agentLine } from '../../parts/command-line.ts'
import { ConfirmButton } from '../../parts/confirm-button.tsx'
import { ErrorNote } from '../../parts/error-note.tsx'
import { Maker } from '../../parts/maker.tsx'
import { RelativeTime } from '../../parts/relative-time.tsx'
import { SecretNote } from '../../parts/secret-note.tsx'
import { useScopes } from '../../scopes.ts'

export function Credential({ device }: { device: Device }) {
  const { deviceId, credentialCreatedAt, certificateRevokedAt } = device
  const { credentialCreatedBy, credentialCreatedByName } = device
  const { can } = useScopes()
  const [token, setToken] = useState<string>()
  const createToken = async () => {
    setToken((await jobcast.devices.createCredential(deviceId)).deviceToken)
    await refreshKeys(['device', deviceId])
  }
  const revoke = async () => {
    await jobcast.devices.revokeCredential(deviceId)
    setToken(undefined)
    await refreshKeys(['device', deviceId])
  }
  const first = useAction(createToken)
  return (
    <section class="panel" aria-labelledby="credential">
      <header>
        <h2 id="credential">Credential</h2>
      </header>
      <div class="stack">
        {token !== undefined && (
          <SecretNote
            title="Device token"
            secret={token}
            commands={[{ title: 'On the device', line: agentLine(location.origin, deviceId, token) }]}
            onDone={() => setToken(undefined)}
          >
            It is shown only once.
          </SecretNote>
        )}
        <p>
          {credentialCreatedAt === null ? (
            'No token: the device cannot connect.'
          ) : (
            <>
              Token created <RelativeTime at={credentialCreatedAt} />
              {credentialCreatedBy !== null && (
                <>
                  {' '}
                  by <Maker createdBy={credentialCreatedBy} createdByName={credentialCreatedByName} />
                </>
              )}
              .
            </>
          )}
        </p>
        {certificateRevokedAt !== null && (
          <p>
            Client certificates of this device were revoked <RelativeTime at={certificateRevokedAt} />.
          </p>
        )}
        <ErrorNote error={first.error} />
      </div>
      {can('MANAGE') && (
        <div class="panel-actions">
          {credentialCreatedAt === null ? (
            <button type="button" class="primary" disabled={first.isRunning} onClick={() => first.run()}>
              Create token
            </button>
          ) : (
            <>
              <ConfirmButton
                label="Rotate token"
                question={
                  <p>
                    A new token is created and shown only once. The current one stops working immediately: the
                    device is disconnected until it gets the new one. Pending executions are kept.
                  </p>
                }
                work={createToken}
              />
              <ConfirmButton
                label="Revoke and disconnect"
                confirm="Revoke"
                question={
                  <p>
                    The device is disconnected at once and cannot connect until you create a new token; it
                    cannot enroll either. Its client certificates are refused, also with a new token. Waiting
                    executions are kept.
                  </p>
                }
                work={revoke}
              />
            </>
          )}
          {certificateRevokedAt !== null && (
            <ConfirmButton
              label="Accept certificates"
              isHarmless
              question={
                <p>
                  The device can sign in with a client certificate again, as before its credential was
                  revoked.
                </p>
              }
              work={async () => {
                await jobcast.devices.allowCertificate(deviceId)
                await refreshKeys(['device', deviceId])
              }}
            />
          )}
        </div>
      )}
    </section>
  )
}
