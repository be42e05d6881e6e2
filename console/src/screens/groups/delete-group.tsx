import { isJobcastError } from '@jobcast/client'
import { useState } from 'preact/hooks'
import { jobcast } from '../../api/client.ts'
import { refreshKeys } from '../../api/refresh-keys.ts'
import { removeRow } from '../../api/use-list.ts'
import { ConfirmButton } from '../../parts/confirm-button.tsx'
import { navigate } from '../../router.ts'
import type { GroupUser } from './find-users.ts'
import { UserList } from './user-list.tsx'

type Props = {
  groupName: string
  /** Undefined while loading. */
  users: GroupUser[] | undefined
}

/** Refused while something refers to the group, including users that are not shown here; then it can be deleted by force. */
export function DeleteGroup({ groupName, users }: Props) {
  const [isUsed, setUsed] = useState(false)
  const remove = async () => {
    try {
      await jobcast.groups.delete(groupName, { force: isUsed })
    } catch (error) {
      setUsed(isJobcastError(error, 'J-315'))
      throw error
    }
    removeRow(['groups'], groupName)
    void refreshKeys(['groups', 'all'], ['devices'])
    navigate('/groups')
  }
  return (
    <ConfirmButton
      label="Delete group"
      {...(isUsed && { confirm: 'Delete anyway' })}
      question={
        <>
          <References groupName={groupName} users={users} />
          {isUsed && (
            <p>
              If you delete it anyway, what refers to it is rejected until it is changed, schedules are
              paused, and gates of runs stay closed.
            </p>
          )}
        </>
      }
      work={remove}
    />
  )
}

function References({ groupName, users }: Props) {
  if (users === undefined) return <p>Checking what refers to {groupName}.</p>
  if (users.length === 0)
    return (
      <p>
        No group, job or schedule refers to <strong>{groupName}</strong>. Its devices are kept.
      </p>
    )
  return (
    <>
      <p>
        These refer to <strong>{groupName}</strong>:
      </p>
      <UserList users={users} />
    </>
  )
}
