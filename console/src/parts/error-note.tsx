import { ConnectionError, JobcastError } from '@jobcast/client'
import { Icon } from './icon.tsx'

/** Shows an error, with its code if it comes from the API. Empty without an error. */
export function ErrorNote({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  if (error === undefined || error === null) return null
  return (
    <div class="error-note" role="alert">
      <Icon name="warning" />
      <div>
        <ErrorText error={error} />
      </div>
      {onRetry && (
        <button type="button" onClick={onRetry}>
          Try again
        </button>
      )}
    </div>
  )
}

function ErrorText({ error }: { error: unknown }) {
  if (error instanceof JobcastError) {
    return (
      <>
        <strong>
          {error.message} <code>{error.code}</code>
        </strong>
        {error.detail && <p>{error.detail}</p>}
      </>
    )
  }
  if (error instanceof ConnectionError) return <strong>The server is not responding.</strong>
  return <strong>{error instanceof Error ? error.message : String(error)}</strong>
}
