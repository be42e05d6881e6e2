// What the device signs in with. The API can make a token and revoke it; both disconnect the device.

import type { Device } from '@jobcast/client'
import { useState } from 'preact/hooks'
import { jobcast } from '../../api/client.ts'
import { readAnew } from '../../api/read-anew.ts'
import { useAction } from '../../api/use-action.ts'
import { agentLine } from '../../parts/command-line.ts'
import { ConfirmButton } from '../../parts/confirm-button.tsx'
import { ErrorNote } from '../../parts/error-note.tsx'
import { RelativeTime } from '../../parts/relative-time.tsx'
import { SecretNote } from '../../parts/secret-note.tsx'
import { useScopes } from '../../scopes.ts'

export function Credential({ device: { deviceId, credentialCreatedAt } }: { device: Device }) {
  const { can } = useScopes()
  const [token, setToken] = useState<string>()
  const makeToken = async () => {
    setToken((await jobcast.devices.createCredential(deviceId)).deviceToken)
    await readAnew(['device', deviceId])
  }
  const revoke = async () => {
    await jobcast.devices.revokeCredential(deviceId)
    setToken(undefined)
    await readAnew(['device', deviceId])
  }
  const first = useAction(makeToken)
  return (
    <section class="panel" aria-labelledby="credential">
      <header>
        <h2 id="credential">Credential</h2>
      </header>
      <div class="stack">
        {token !== undefined && (
          <SecretNote
            title="The token of this device"
            secret={token}
            commands={[{ title: 'On the device', line: agentLine(location.origin, deviceId, token) }]}
            onDone={() => setToken(undefined)}
          >
            It is shown this once.
          </SecretNote>
        )}
        <p>
          {credentialCreatedAt === null ? (
            'It has no token, so it cannot sign in.'
          ) : (
            <>
              Its token was made <RelativeTime at={credentialCreatedAt} />.
            </>
          )}
        </p>
        <ErrorNote error={first.error} />
      </div>
      {can('MANAGE') && (
        <div class="panel-actions">
          {credentialCreatedAt === null ? (
            <button type="button" class="primary" disabled={first.isRunning} onClick={() => first.run()}>
              Make a token
            </button>
          ) : (
            <>
              <ConfirmButton
                label="Rotate token"
                question={
                  <p>
                    A new token is made, and shown once. The one it has is void at once: the device is
                    disconnected and not let in until it has the new one. What waits for it stays.
                  </p>
                }
                work={makeToken}
              />
              <ConfirmButton
                label="Revoke and disconnect"
                confirm="Revoke"
                question={
                  <p>
                    The device is disconnected at once and not let in until you make it a new token; an
                    enrolment does not let it in either. What waits for it stays.
                  </p>
                }
                work={revoke}
              />
            </>
          )}
        </div>
      )}
    </section>
  )
}
