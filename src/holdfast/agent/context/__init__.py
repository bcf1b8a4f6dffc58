"""What a model is told of all there is: counted, chosen, shortened. Values in, values out."""
