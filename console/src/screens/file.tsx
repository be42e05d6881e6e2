// One file: its versions with their users and content.

import './files.css'
import type { FileVersion } from '@jobcast/client'
import { useState } from 'preact/hooks'
import { jobcast } from '../api/client.ts'
import { isNotFound } from '../api/is-there.ts'
import { lists } from '../api/queries.ts'
import { refreshKeys } from '../api/refresh-keys.ts'
import { removeRow, useList } from '../api/use-list.ts'
import { ConfirmButton } from '../parts/confirm-button.tsx'
import { CopyButton } from '../parts/copy-button.tsx'
import type { Column } from '../parts/data-table.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { formatBytes } from '../parts/format-bytes.ts'
import { PageHeader } from '../parts/page-header.tsx'
import { PagedTable } from '../parts/paged-table.tsx'
import { useScopes } from '../scopes.ts'
import { DropZone } from './files/drop-zone.tsx'
import { UploadForm } from './files/upload-form.tsx'
import { putByColumn, putColumn, usedByColumn } from './files/version-columns.tsx'

const columns: Column<FileVersion>[] = [
  {
    name: 'version',
    title: 'Version',
    width: 'minmax(0, 2fr)',
    cell: ({ version, isNewest }) => (
      <>
        <code>{version}</code> {isNewest && <span class="quiet">newest</span>}
      </>
    ),
  },
  { name: 'size', title: 'Size', width: '90px', isMinor: true, cell: ({ size }) => formatBytes(size) },
  {
    name: 'sha256',
    title: 'sha256',
    width: '200px',
    isMinor: true,
    cell: ({ sha256 }) => (
      <>
        <code title={sha256}>{sha256.slice(0, 8)}…</code> <CopyButton text={sha256} />
      </>
    ),
  },
  usedByColumn,
  putByColumn,
  putColumn,
]

const changing: Column<FileVersion> = {
  name: 'change',
  title: <span class="hidden">Change</span>,
  width: '200px',
  cell: (version) => (
    <span class="row-buttons">
      <Download version={version} />
      <DeleteVersion version={version} />
    </span>
  ),
}

const reading: Column<FileVersion> = {
  ...changing,
  width: '110px',
  cell: (version) => <Download version={version} />,
}

export default function FileScreen({ params }: { params: Record<string, string> }) {
  const fileName = params.fileName as string
  const { can } = useScopes()
  const [open, setOpen] = useState<{ dropped?: File }>()
  const versions = useList(lists.fileVersions(fileName))
  const isGone = isNotFound(versions.error)
  return (
    <DropZone isOn={can('MANAGE')} onDrop={(dropped) => setOpen({ dropped })}>
      <PageHeader title={fileName} about={<a href="/files">All files</a>}>
        {can('MANAGE') && (
          <button type="button" class="primary" onClick={() => setOpen({})}>
            Upload a version
          </button>
        )}
      </PageHeader>
      {isGone ? (
        <EmptyState icon="files" title="File not found">
          <p>It has no versions.</p>
        </EmptyState>
      ) : (
        <PagedTable
          label={`Versions of ${fileName}`}
          list={versions}
          columns={[...columns, can('MANAGE') ? changing : reading]}
          empty={null}
        />
      )}
      {open && <UploadForm {...open} fileName={fileName} onClose={() => setOpen(undefined)} />}
    </DropZone>
  )
}

/** For a reference, the link leads to another site. */
function Download({ version: { fileName, version, url } }: { version: FileVersion }) {
  const href = url ?? `/job/api/files/${fileName}/${encodeURIComponent(version)}/content`
  return (
    <a class="button" href={href} download={`${fileName}-${version}`} rel="noreferrer">
      Download
    </a>
  )
}

/** Refused while the version is in use; the error names the users. */
function DeleteVersion({ version: { fileName, version } }: { version: FileVersion }) {
  return (
    <ConfirmButton
      label="Delete"
      question={
        <p>
          Delete version <strong>{version}</strong> of <strong>{fileName}</strong>? Its content cannot be
          restored.
        </p>
      }
      work={async () => {
        await jobcast.files.delete(fileName, version)
        removeRow(['files', fileName], version)
        await refreshKeys(['files'])
      }}
    />
  )
}
