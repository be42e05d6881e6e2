import type { GroupUser } from './find-users.ts'

export function UserList({ users }: { users: GroupUser[] }) {
  return (
    <ul>
      {users.map(({ kind, name, href }) => (
        <li key={href}>
          {kind} <a href={href}>{name}</a>
        </li>
      ))}
    </ul>
  )
}
