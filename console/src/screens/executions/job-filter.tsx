import { queries } from '../../api/queries.ts'
import { useQuery } from '../../api/use-query.ts'
import { NameFilter } from './filters.tsx'

export function JobFilter({ value, onChange }: { value: string; onChange: (jobName: string) => void }) {
  const { data } = useQuery(queries.allJobs())
  return (
    <NameFilter
      label="Job"
      value={value}
      known={data?.map(({ jobName }) => jobName) ?? []}
      onChange={onChange}
    />
  )
}
