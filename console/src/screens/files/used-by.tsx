const places: Record<string, string> = { job: 'jobs', schedule: 'schedules', run: 'runs' }

/** `job:install`, `schedule:nightly`, `run:7`: links to them. */
export function UsedBy({ usedBy }: { usedBy: string[] }) {
  if (usedBy.length === 0) return <>–</>
  return (
    <>
      {usedBy.map((user, index) => (
        <span key={user}>
          {index > 0 && ', '}
          <User user={user} />
        </span>
      ))}
    </>
  )
}

function User({ user }: { user: string }) {
  const [kind = '', name = ''] = user.split(/:(.*)/)
  const place = places[kind]
  if (place === undefined) return <>{user}</>
  return <a href={`/${place}/${encodeURIComponent(name)}`}>{kind === 'run' ? `run ${name}` : name}</a>
}
