// Text of a device that is put into a chat: chats turn addresses into links, also bare ones. What could be an address is
// broken up with brackets, as it is done in reports of attacks: https[:]//evil[.]example. A person still reads it.

/** `disk full: 5`, `2.4.1` and `10:30` stay as they are. */
export function breakLinks(text: string): string {
  return text
    .replace(/:(?=\/)|(?<=\p{L}):(?=[^\s\d])/gu, '[:]')
    .replace(/(?<=[\p{L}\p{N}_-])[.\u3002\uff0e\uff61](?=\p{L}{2})/gu, '[.]')
}
