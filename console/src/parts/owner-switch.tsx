// The owner that a person acts for, and the others at which the person has a role. Keys act for one owner, and see nothing.

import { signInHref } from '../api/issuer.ts'
import { self } from '../api/self.ts'

export function OwnerSwitch() {
  const { owners = [], ownerName = '' } = self.value ?? {}
  if (owners.length < 2) return null
  // The issuer is asked again: it remembers the person, so that nobody types anything.
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
