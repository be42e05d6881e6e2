// Uploads a version of a file. Its name and version are guessed from the name on the disk: app-1.4.bin.

import { Jobcast } from '@jobcast/client'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { fetchWithProgress } from '../../api/fetch-with-progress.ts'
import { refreshKeys } from '../../api/refresh-keys.ts'
import { Field, TextField } from '../../parts/field.tsx'
import { FormDialog } from '../../parts/form-dialog.tsx'
import { formatBytes } from '../../parts/format-bytes.ts'
import { guessFileName } from './guess-file-name.ts'

type Props = { fileName?: string; dropped?: File | undefined; onClose: () => void }

export function UploadForm({ fileName, dropped, onClose }: Props) {
  const [content, setContent] = useState(dropped)
  // Another file may be dropped while the dialog is open, also on its field.
  useEffect(() => {
    if (dropped) setContent(dropped)
  }, [dropped])
  const guess = content && guessFileName(content.name)
  const [name, setName] = useState<string>()
  const [version, setVersion] = useState<string>()
  const [sent, setSent] = useState<number>()
  const leaving = useMemo(() => new AbortController(), [])
  useEffect(() => () => leaving.abort(), [leaving])
  const [givenName, givenVersion] = [fileName ?? name ?? guess?.fileName, version ?? guess?.version].map(
    (text = '') => text.trim(),
  ) as [string, string]
  const save = async () => {
    if (content === undefined) return
    const client = new Jobcast({ url: location.origin, maxRetries: 0, fetch: fetchWithProgress(setSent) })
    setSent(0)
    try {
      await client.files.put(givenName, givenVersion, content, { signal: leaving.signal })
    } finally {
      setSent(undefined)
    }
    await refreshKeys(['files'])
  }
  return (
    <FormDialog
      title={fileName === undefined ? 'Upload a file' : `Upload a version of ${fileName}`}
      submit={sent === undefined ? 'Upload' : 'Uploading …'}
      canSubmit={content !== undefined && givenName !== '' && givenVersion !== ''}
      work={save}
      onClose={onClose}
    >
      <Field label="File" {...(content && { hint: `${content.name}, ${formatBytes(content.size)}` })}>
        {(control) => (
          <input
            {...control}
            type="file"
            onChange={(event) => setContent(event.currentTarget.files?.[0] ?? content)}
          />
        )}
      </Field>
      {fileName === undefined && (
        <TextField
          label="Name"
          required
          value={givenName}
          onInput={setName}
          placeholder="app"
          hint="Documents name it in “files”. Letters, digits, _ and -."
        />
      )}
      <TextField
        label="Version"
        required
        value={givenVersion}
        onInput={setVersion}
        placeholder="1.4"
        hint="The content of a version never changes."
      />
      {sent !== undefined && content && <Progress sent={sent} size={content.size} />}
    </FormDialog>
  )
}

/** `sent` includes slightly more than the content. */
function Progress({ sent, size }: { sent: number; size: number }) {
  const bytes = Math.min(sent, size)
  return (
    <p class="upload-progress">
      <progress max={Math.max(size, 1)} value={bytes} aria-label="Sent" />
      <span>
        {formatBytes(bytes)} of {formatBytes(size)}
      </span>
    </p>
  )
}
