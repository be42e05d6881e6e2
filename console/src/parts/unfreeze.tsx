import { jobcast } from '../api/client.ts'
import { refreshKeys } from '../api/refresh-keys.ts'
import { ConfirmButton } from './confirm-button.tsx'

export default function Unfreeze() {
  return (
    <ConfirmButton
      label="Unfreeze"
      isHarmless
      question="Devices are offered their pending executions immediately."
      work={async () => {
        await jobcast.fleet.unfreeze()
        await refreshKeys(['freeze'])
      }}
    />
  )
}
