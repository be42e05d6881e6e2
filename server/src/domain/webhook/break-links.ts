// Defangs text from devices in chat messages: chats turn addresses into links, also bare ones. Possible addresses get
// brackets, as in security reports: https[:]//evil[.]example. They remain readable.

/** `disk full: 5`, `2.4.1` and `10:30` are not changed. */
export function breakLinks(text: string): string {
  return text
    .replace(/:(?=\/)|(?<=\p{L}):(?=[^\s\d])/gu, '[:]')
    .replace(/(?<=[\p{L}\p{N}_-])[.\u3002\uff0e\uff61](?=\p{L}{2})/gu, '[.]')
}
