export interface ParsedMessage {
  todo: true
}
