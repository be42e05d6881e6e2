import { useEffect, useState } from 'preact/hooks'
import { findJsonError } from '../parts/find-json-error.ts'
import { useSettled } from '../parts/use-settled.ts'
import type { SchemaProblems } from './check-schema.ts'

/** Validates what the user edits; the server has checked the rest. No problems while a text is not JSON. */
export function useSchemaProblems(parameters: string, document: string, isEdited: boolean): SchemaProblems {
  const [problems, setProblems] = useState<SchemaProblems>({})
  const settled = useSettled(`${parameters}\n${document}`)
  useEffect(() => {
    let isWanted = true
    const isJson = [parameters || '{}', document].every((text) => findJsonError(text) === undefined)
    const mayBeWrong = isEdited && isJson && (parameters.trim() !== '' || document.includes('${'))
    if (!mayBeWrong) setProblems({})
    else
      void import('./check-schema.ts').then(
        ({ checkSchema }) => isWanted && setProblems(checkSchema(parameters, document)),
        () => undefined, // the server checks it in any case
      )
    return () => {
      isWanted = false
    }
  }, [settled, isEdited])
  return problems
}
