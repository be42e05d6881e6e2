// One group: its selector, its users, and its devices.

import type { Device, Group } from '@jobcast/client'
import { useState } from 'preact/hooks'
import { isNotFound } from '../api/is-there.ts'
import { lists, queries } from '../api/queries.ts'
import { useList } from '../api/use-list.ts'
import { useQuery } from '../api/use-query.ts'
import { changeFacts } from '../parts/change-facts.tsx'
import type { Column } from '../parts/data-table.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { ErrorNote } from '../parts/error-note.tsx'
import { formatCount } from '../parts/exec-state.ts'
import { Facts } from '../parts/facts.tsx'
import { PageHeader } from '../parts/page-header.tsx'
import { PagedTable } from '../parts/paged-table.tsx'
import { Presence } from '../parts/presence.tsx'
import { triggerHref } from '../parts/trigger-href.ts'
import { WindowLink } from '../parts/window-link.tsx'
import { useScopes } from '../scopes.ts'
import { whereGroup } from '../selector/selector-text.ts'
import { DeleteGroup } from './groups/delete-group.tsx'
import { findUsers, type GroupUser } from './groups/find-users.ts'
import { GroupForm } from './groups/group-form.tsx'
import { UserList } from './groups/user-list.tsx'

export default function GroupScreen({ params }: { params: Record<string, string> }) {
  const groupName = params.groupName as string
  const { data, error, refetch } = useQuery(queries.group(groupName))
  const isGone = isNotFound(error)
  const group = isGone ? undefined : data
  const users = useUsers(groupName)
  return (
    <>
      <PageHeader title={groupName} about={group && <Size groupName={groupName} />}>
        {group && <Actions group={group} users={users} />}
      </PageHeader>
      {isGone && (
        <EmptyState icon="groups" title="Group not found">
          <p>
            <a href="/groups">All groups</a>
          </p>
        </EmptyState>
      )}
      {!group && !isGone && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {group && (
        <>
          <About group={group} users={users} />
          <Members groupName={groupName} />
        </>
      )}
    </>
  )
}

/** Undefined while loading. */
function useUsers(groupName: string): GroupUser[] | undefined {
  const groups = useQuery(queries.allGroups()).data
  const jobs = useQuery(queries.allJobs()).data
  const schedules = useQuery(queries.allSchedules()).data
  return groups && jobs && schedules && findUsers(groupName, { groups, jobs, schedules })
}

function Size({ groupName }: { groupName: string }) {
  const { data } = useQuery(queries.deviceCount(whereGroup(groupName)))
  if (!data) return null
  return (
    <span role="status">
      {formatCount(data.total)} {data.total === 1 ? 'device' : 'devices'}: {formatCount(data.online)} online,{' '}
      {formatCount(data.busy)} busy
    </span>
  )
}

function Actions({ group, users }: { group: Group; users: GroupUser[] | undefined }) {
  const { can } = useScopes()
  const [isEditing, setEditing] = useState(false)
  const { groupName } = group
  return (
    <>
      {can('TRIGGER') && (
        <a class="button primary" href={triggerHref({ where: whereGroup(groupName) })}>
          Trigger
        </a>
      )}
      {can('MANAGE') && (
        <>
          <button type="button" onClick={() => setEditing(true)}>
            Edit
          </button>
          <DeleteGroup groupName={groupName} users={users} />
        </>
      )}
      {isEditing && <GroupForm group={group} onClose={() => setEditing(false)} />}
    </>
  )
}

function About({ group, users }: { group: Group; users: GroupUser[] | undefined }) {
  const { where, description, window } = group
  return (
    <section class="panel" aria-label="About">
      <Facts
        facts={[
          { name: 'Selector', value: <code>{where}</code> },
          ...(description ? [{ name: 'Description', value: description }] : []),
          { name: 'Window', value: <WindowLink name={window} /> },
          {
            name: 'Used by',
            value:
              users === undefined || users.length === 0 ? (
                <span class="quiet">{users && 'no group, job or schedule'}</span>
              ) : (
                <UserList users={users} />
              ),
          },
          ...changeFacts(group),
        ]}
      />
    </section>
  )
}

const hrefOf = ({ deviceId }: Device) => `/devices/${encodeURIComponent(deviceId)}`

const columns: Column<Device>[] = [
  {
    name: 'device',
    title: 'Device',
    width: 'minmax(0, 2fr)',
    sortBy: ({ deviceId }) => deviceId,
    cell: (device) => <a href={hrefOf(device)}>{device.deviceId}</a>,
  },
  {
    name: 'presence',
    title: 'Presence',
    width: '100px',
    sortBy: ({ online }) => (online ? 0 : 1),
    cell: ({ online }) => <Presence online={online} />,
  },
  {
    name: 'tags',
    title: 'Tags',
    width: 'minmax(0, 2fr)',
    isMinor: true,
    cell: ({ tags }) => tags.join(', '),
  },
]

function Members({ groupName }: { groupName: string }) {
  const devices = useList(lists.devices({ where: whereGroup(groupName) }))
  return (
    <PagedTable
      label="Devices of the group"
      list={devices}
      columns={columns}
      hrefOf={hrefOf}
      empty={
        <EmptyState icon="devices" title="No device matches">
          <p>Devices belong to the group as soon as they match.</p>
        </EmptyState>
      }
    />
  )
}
