// All files, by their newest version. Files dropped anywhere on the screen are uploaded.

import './files.css'
import type { FileVersion } from '@jobcast/client'
import { useState } from 'preact/hooks'
import { lists } from '../api/queries.ts'
import { useList } from '../api/use-list.ts'
import type { Column } from '../parts/data-table.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { formatBytes } from '../parts/format-bytes.ts'
import { ListScreen } from '../parts/list-screen.tsx'
import type { ScreenProps } from '../route.ts'
import { useScopes } from '../scopes.ts'
import { DropZone } from './files/drop-zone.tsx'
import { UploadForm } from './files/upload-form.tsx'
import { putByColumn, putColumn, usedByColumn } from './files/version-columns.tsx'

const columns: Column<FileVersion>[] = [
  {
    name: 'file',
    title: 'File',
    width: 'minmax(0, 3fr)',
    sortBy: ({ fileName }) => fileName,
    cell: ({ fileName }) => <a href={`/files/${fileName}`}>{fileName}</a>,
  },
  {
    name: 'newest',
    title: 'Newest version',
    width: 'minmax(0, 2fr)',
    cell: ({ version }) => <code>{version}</code>,
  },
  {
    name: 'size',
    title: 'Size',
    width: '90px',
    sortBy: ({ size }) => size,
    cell: ({ size }) => formatBytes(size),
  },
  { ...usedByColumn, width: 'minmax(0, 4fr)' },
  putByColumn,
  { ...putColumn, sortBy: ({ createdAt }) => createdAt },
]

export default function FilesScreen({ route }: ScreenProps) {
  const { can } = useScopes()
  const [open, setOpen] = useState<{ dropped?: File }>()
  return (
    <DropZone isOn={can('MANAGE')} onDrop={(dropped) => setOpen({ dropped })}>
      <ListScreen
        route={route}
        actions={
          can('MANAGE') && (
            <button type="button" class="primary" onClick={() => setOpen({})}>
              Upload a file
            </button>
          )
        }
        list={useList(lists.files())}
        columns={columns}
        empty={<NoFiles />}
      >
        {open && <UploadForm {...open} onClose={() => setOpen(undefined)} />}
      </ListScreen>
    </DropZone>
  )
}

function NoFiles() {
  const { can } = useScopes()
  return (
    <EmptyState icon="files" title="No files yet">
      <p>
        A file is content that devices fetch before a handler starts: a firmware, an archive, a certificate. A
        job names it in its document, as in <code>{'{"files": ["app"]}'}</code>.{' '}
        {can('MANAGE') ? 'Drop one here.' : 'A key with the MANAGE scope can upload one.'}
      </p>
    </EmptyState>
  )
}
