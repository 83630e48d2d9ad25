"""Human judgement of paraphrases: rounds that organisers start, import and publish, and annotators' marks.

`material` reads items and predictions, `rounds` starts and publishes, `marks` is the annotators' side, `imports` takes
organisers' files, `results` computes, `columns` is what boards show.
"""
