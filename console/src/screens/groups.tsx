// All groups, which are named selectors.

import type { Group } from '@jobcast/client'
import { useState } from 'preact/hooks'
import { lists } from '../api/queries.ts'
import { useList } from '../api/use-list.ts'
import type { Column } from '../parts/data-table.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { ListScreen } from '../parts/list-screen.tsx'
import { Maker } from '../parts/maker.tsx'
import { RelativeTime } from '../parts/relative-time.tsx'
import type { ScreenProps } from '../route.ts'
import { useScopes } from '../scopes.ts'
import { GroupForm } from './groups/group-form.tsx'

const hrefOf = ({ groupName }: Group) => `/groups/${encodeURIComponent(groupName)}`

const columns: Column<Group>[] = [
  {
    name: 'group',
    title: 'Group',
    width: 'minmax(0, 2fr)',
    sortBy: ({ groupName }) => groupName,
    cell: (group) => <a href={hrefOf(group)}>{group.groupName}</a>,
  },
  {
    name: 'selector',
    title: 'Selector',
    width: 'minmax(0, 4fr)',
    cell: ({ where }) => <code>{where}</code>,
  },
  {
    name: 'description',
    title: 'Description',
    width: 'minmax(0, 3fr)',
    isMinor: true,
    cell: ({ description }) => description,
  },
  {
    name: 'updated',
    title: 'Updated',
    width: '110px',
    isMinor: true,
    sortBy: ({ updatedAt }) => updatedAt,
    cell: ({ updatedAt }) => <RelativeTime at={updatedAt} />,
  },
  {
    name: 'by',
    title: 'By',
    width: 'minmax(0, 1fr)',
    isMinor: true,
    cell: ({ updatedBy, updatedByName }) => <Maker createdBy={updatedBy} createdByName={updatedByName} />,
  },
]

export default function GroupsScreen({ route }: ScreenProps) {
  const { can } = useScopes()
  const [isCreating, setCreating] = useState(false)
  return (
    <ListScreen
      route={route}
      actions={
        can('MANAGE') && (
          <button type="button" class="primary" onClick={() => setCreating(true)}>
            New group
          </button>
        )
      }
      list={useList(lists.groups())}
      columns={columns}
      hrefOf={hrefOf}
      empty={<NoGroups />}
    >
      {isCreating && <GroupForm onClose={() => setCreating(false)} />}
    </ListScreen>
  )
}

function NoGroups() {
  const { can } = useScopes()
  return (
    <EmptyState icon="groups" title="No groups yet">
      <p>
        A group is a named selector, such as <code>tag=kiosk and site=berlin</code>.{' '}
        {can('MANAGE') ? 'Create one with “New group”.' : 'A key with the MANAGE scope can create one.'}
      </p>
    </EmptyState>
  )
}
