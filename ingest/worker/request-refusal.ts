/** A request cannot be done; the message is a sentence for whoever asked. */
export class RequestRefusal extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'RequestRefusal'
  }
}
