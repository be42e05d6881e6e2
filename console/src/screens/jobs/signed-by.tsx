import type { Job } from '@jobcast/client'

/** The keys that have signed this version. Only devices decide which of them to trust. */
export function SignedBy({ job: { version, signatures } }: { job: Job }) {
  const keys = signatures.flatMap((envelope) => envelope.signatures)
  if (keys.length === 0) return null
  return (
    <section class="panel" aria-labelledby="signed-by">
      <header>
        <h2 id="signed-by">Signatures</h2>
      </header>
      <p>
        Version {version} is signed with {keys.length === 1 ? 'the key' : `${keys.length} keys`}
      </p>
      <ul class="signing-keys">
        {keys.map(({ keyid, sig }) => (
          <li key={sig}>
            {keyid === undefined ? <span class="quiet">no key ID given</span> : <code>{keyid}</code>}
          </li>
        ))}
      </ul>
      <p class="quiet">
        A change creates a version without signatures. Devices that require signatures reject it until it is
        signed with <code>jobcast jobs sign</code>.
      </p>
    </section>
  )
}
