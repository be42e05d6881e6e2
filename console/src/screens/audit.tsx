// The audit log, newest first; each entry has the state before and after. The filters are in the address, with their names in
// the API.

import './audit.css'
import type { AuditEntry } from '@jobcast/client'
import { useMemo, useState } from 'preact/hooks'
import { type AuditQuery, lists } from '../api/queries.ts'
import { useList } from '../api/use-list.ts'
import type { Column } from '../parts/data-table.tsx'
import { EmptyState, NoMatches } from '../parts/empty-state.tsx'
import { ListScreen } from '../parts/list-screen.tsx'
import { PageHeader } from '../parts/page-header.tsx'
import { RelativeTime } from '../parts/relative-time.tsx'
import { SavedViews } from '../parts/saved-views.tsx'
import { type FilterRules, filterOf, isInstant, WrongFilters } from '../parts/wrong-filters.tsx'
import type { ScreenProps } from '../route.ts'
import { search, setSearch } from '../router.ts'
import { useScopes } from '../scopes.ts'
import { EntryDialog } from './audit/entry-dialog.tsx'
import { Principal } from './audit/principal.tsx'
import { Subject } from './audit/subject.tsx'
import { NameFilter, TimeFilters } from './executions/filters.tsx'

const columns: Column<AuditEntry>[] = [
  {
    name: 'at',
    title: 'When',
    width: '110px',
    cell: ({ at }) => <RelativeTime at={at} />,
    under: ({ name, principal }) => name ?? principal,
  },
  {
    name: 'who',
    title: 'Who',
    width: 'minmax(0, 2fr)',
    isMinor: true,
    cell: (entry) => <Principal entry={entry} />,
  },
  {
    name: 'action',
    title: 'What',
    width: 'minmax(0, 2fr)',
    cell: ({ action }) => <code>{action}</code>,
    under: ({ subject }) => subject,
  },
  {
    name: 'subject',
    title: 'Subject',
    width: 'minmax(0, 2fr)',
    isMinor: true,
    cell: ({ subject }) => <Subject subject={subject} />,
  },
  {
    name: 'address',
    title: 'Address',
    width: '130px',
    isMinor: true,
    cell: ({ address }) => address ?? '',
  },
  {
    name: 'note',
    title: 'Note',
    width: 'minmax(0, 2fr)',
    isMinor: true,
    cell: ({ note }) => <span class="quiet">{note ?? ''}</span>,
  },
]

const showColumn = (onShow: (entry: AuditEntry) => void): Column<AuditEntry> => ({
  name: 'show',
  title: <span class="hidden">Show</span>,
  width: '76px',
  cell: (entry) => (
    <span class="row-buttons">
      <button type="button" aria-label={`Show entry ${entry.auditId}`} onClick={() => onShow(entry)}>
        Show
      </button>
    </span>
  ),
})

const names = [
  { name: 'principal', label: 'Who' },
  { name: 'action', label: 'What' },
  { name: 'subject', label: 'Subject' },
] as const
const times = [
  { name: 'after', label: 'After' },
  { name: 'before', label: 'Before' },
] as const

const isShort = (value: string) => value.length <= 256
const rules: FilterRules = {
  principal: isShort,
  action: isShort,
  subject: isShort,
  after: isInstant,
  before: isInstant,
}

/** Omits values that the API would refuse. */
function currentQuery(): AuditQuery {
  const given = (name: keyof AuditQuery) => filterOf(name, rules)
  return {
    principal: given('principal'),
    action: given('action'),
    subject: given('subject'),
    after: given('after'),
    before: given('before'),
  }
}

export default function AuditScreen(props: ScreenProps) {
  const { can } = useScopes()
  if (can('AUDIT')) return <Entries {...props} />
  return (
    <>
      <PageHeader title={props.route.title} />
      <EmptyState icon="audit" title="This key may not read the audit">
        <p>
          It needs the scope <code>AUDIT</code>. A key with <code>ADMIN</code> can{' '}
          <a href="/keys">create one</a> that has it.
        </p>
      </EmptyState>
    </>
  )
}

function Entries({ route }: ScreenProps) {
  const query = currentQuery()
  const entries = useList(lists.audit(query))
  const [shown, setShown] = useState<AuditEntry>()
  const all = useMemo(() => [...columns, showColumn(setShown)], [])
  const given = (name: string) => search.value.get(name) ?? ''
  const isFiltered = Object.values(query).some((value) => value !== undefined)
  return (
    <ListScreen
      route={route}
      actions={
        <a class="button" href="/job/api/audit/export" download="audit.ndjson">
          Export
        </a>
      }
      notice={<WrongFilters rules={rules} />}
      filters={
        <>
          <SavedViews />
          <search class="filters audit-filters" aria-label="Filters">
            {names.map(({ name, label }) => (
              <NameFilter
                key={name}
                label={label}
                value={given(name)}
                known={[...new Set(entries.rows.map((entry) => entry[name]))]}
                onChange={(value) => setSearch({ [name]: value })}
              />
            ))}
            <TimeFilters times={times} />
          </search>
        </>
      }
      list={entries}
      columns={all}
      empty={
        isFiltered ? (
          <NoMatches what="entries" href="/audit" />
        ) : (
          <EmptyState icon="audit" title="No entries yet">
            <p>Each change, each sign-in and each refusal for a missing scope appears here.</p>
          </EmptyState>
        )
      }
    >
      {shown && <EntryDialog entry={shown} onClose={() => setShown(undefined)} />}
    </ListScreen>
  )
}
