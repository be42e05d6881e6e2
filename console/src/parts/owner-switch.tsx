// The current owner of a person, and the others at which the person has a role. Not shown for keys, which act for one owner.

import { signInHref } from '../api/issuer.ts'
import { self } from '../api/self.ts'

export function OwnerSwitch() {
  const { owners = [], ownerName = '' } = self.value ?? {}
  if (owners.length < 2) return null
  // Redirects to the issuer, where the person usually is still signed in.
  return (
    <label class="owner-switch">
      Owner
      <select
        value={ownerName}
        onChange={({ currentTarget }) => location.assign(signInHref('/', currentTarget.value))}
      >
        {owners.map((owner) => (
          <option key={owner} value={owner}>
            {owner}
          </option>
        ))}
      </select>
    </label>
  )
}
